import {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  type CombineOperator,
  type CompareOperator,
  type FilterValue,
  type GeoRange,
  type ShardFilter,
} from "@shoal/model";
import { type ByteReader, unreadable } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";

/** Places in these lists stand on the wire: they only grow. */
const OPERATORS = [...COMBINE_OPERATORS, "RefersTo", ...COMPARE_OPERATORS] as const;
const KINDS = ["int", "number", "boolean", "string", "text", "date", "geoRange"] as const;

/** Deeper filters than the contract allows, so that reading one never ends the stack. */
const DEPTH_MAX = 1_000;

export function writeFilter(writer: ByteWriter, filter: ShardFilter): void {
  writer.byte(OPERATORS.indexOf(filter.operator));
  if ("operands" in filter) {
    writer.list(filter.operands, writeFilter);
    return;
  }
  writer.text(filter.property);
  if ("targets" in filter) writer.list(filter.targets, (to, id) => to.id(id));
  else writeValue(writer, filter.value);
}

export function readFilter(reader: ByteReader, depth = 0): ShardFilter {
  if (depth > DEPTH_MAX) throw unreadable(`a filter is deeper than ${DEPTH_MAX}`);
  const operator = reader.choice(OPERATORS, "operator");
  if (isCombine(operator)) return { operator, operands: reader.list((from) => readFilter(from, depth + 1)) };
  const property = reader.text();
  if (operator === "RefersTo") return { operator, property, targets: reader.list((from) => from.id()) };
  return { operator, property, value: readValue(reader) };
}

function isCombine(operator: CombineOperator | CompareOperator | "RefersTo"): operator is CombineOperator {
  return (COMBINE_OPERATORS as readonly string[]).includes(operator);
}

function writeValue(writer: ByteWriter, value: FilterValue): void {
  writer.byte(KINDS.indexOf(value.kind));
  switch (value.kind) {
    case "int":
    case "number":
      writer.list(value.values, (to, number) => to.double(number));
      break;
    case "boolean":
      writer.list(value.values, (to, flag) => to.flag(flag));
      break;
    case "string":
    case "text":
      writer.list(value.values, (to, text) => to.text(text));
      break;
    case "date":
      writer.list(value.values, (to, instant) => to.instant(instant));
      break;
    case "geoRange":
      writer.list(value.values, writeGeoRange);
      break;
  }
}

function readValue(reader: ByteReader): FilterValue {
  const kind = reader.choice(KINDS, "kind of value");
  switch (kind) {
    case "int":
    case "number":
      return { kind, values: reader.list((from) => from.double()) };
    case "boolean":
      return { kind, values: reader.list((from) => from.flag()) };
    case "string":
    case "text":
      return { kind, values: reader.list((from) => from.text()) };
    case "date":
      return { kind, values: reader.list((from) => from.instant()) };
    case "geoRange":
      return { kind, values: reader.list(readGeoRange) };
  }
}

function writeGeoRange(writer: ByteWriter, range: GeoRange): void {
  writer.double(range.latitude);
  writer.double(range.longitude);
  writer.double(range.distanceMax);
}

function readGeoRange(reader: ByteReader): GeoRange {
  return { latitude: reader.double(), longitude: reader.double(), distanceMax: reader.double() };
}
