import {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  type CombineOperator,
  type FilterValue,
  type GeoRange,
  type ShardFilter,
} from "@shoal/model";
import { unreadable } from "./byte-reader.js";
import { type Codec, double, flag, id, instant, text, type Wire } from "./codec.js";

/** Places in this list are sent: it only grows. */
const OPERATORS = [...COMBINE_OPERATORS, "RefersTo", ...COMPARE_OPERATORS] as const;

/** Deeper filters than the contract allows, so that reading one never ends the stack. */
const DEPTH_MAX = 1_000;

const geoRange: Codec<GeoRange> = (wire, value) => ({
  latitude: wire.double(value?.latitude),
  longitude: wire.double(value?.longitude),
  distanceMax: wire.double(value?.distanceMax),
});

/** Places in this table are sent: it only grows. */
const ITEM_OF_KIND = {
  int: double,
  number: double,
  boolean: flag,
  string: text,
  text,
  date: instant,
  geoRange,
} as const;
const KINDS = Object.keys(ITEM_OF_KIND) as (keyof typeof ITEM_OF_KIND)[];

const filterValue: Codec<FilterValue> = (wire, value) => {
  const kind = wire.choice(KINDS, "kind of value", value?.kind);
  const item = ITEM_OF_KIND[kind] as Codec<unknown>;
  return { kind, values: wire.list<unknown>(value?.values, item) } as FilterValue;
};

export function filter(wire: Wire, value?: ShardFilter, depth = 0): ShardFilter {
  if (depth > DEPTH_MAX) throw unreadable(`a filter is deeper than ${DEPTH_MAX}`);
  const operator = wire.choice(OPERATORS, "operator", value?.operator);
  if (isCombine(operator)) {
    const operands = value && "operands" in value ? value.operands : undefined;
    return { operator, operands: wire.list(operands, (to, operand) => filter(to, operand, depth + 1)) };
  }
  const compared = value && "property" in value ? value : undefined;
  const property = wire.text(compared?.property);
  if (operator === "RefersTo") {
    const targets = compared && "targets" in compared ? compared.targets : undefined;
    return { operator, property, targets: wire.list(targets, id) };
  }
  return { operator, property, value: filterValue(wire, compared && "value" in compared ? compared.value : undefined) };
}

function isCombine(operator: (typeof OPERATORS)[number]): operator is CombineOperator {
  return (COMBINE_OPERATORS as readonly string[]).includes(operator);
}
