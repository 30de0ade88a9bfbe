import type { AggregatedProperty, GroupPart, PropertyPart, ShardAggregate, ShardAggregation } from "@shoal/model";
import { type Codec, count, double, text, type Wire } from "./codec.js";
import { filter } from "./filter-codec.js";

const aggregatedProperty: Codec<AggregatedProperty> = (wire, value) => ({
  name: wire.text(value?.name),
  numbers: wire.flag(value?.numbers),
  distribution: wire.flag(value?.distribution),
  topOccurrences: wire.optional(value?.topOccurrences, double),
  dates: wire.flag(value?.dates),
  booleans: wire.flag(value?.booleans),
});

export const shardAggregation: Codec<ShardAggregation> = (wire, value) => ({
  filter: wire.optional(value?.filter, filter),
  groupBy: wire.optional(value?.groupBy, text),
  properties: wire.list(value?.properties, aggregatedProperty),
  isWhole: wire.flag(value?.isWhole),
  // Bounds may be infinite.
  groupsMax: wire.double(value?.groupsMax),
  bytesMax: wire.double(value?.bytesMax),
});

/** As `typeof` says it. Places in this list are sent: it only grows. */
const GROUPED_BY: readonly string[] = ["undefined", "string", "number", "boolean"];

function groupedBy(wire: Wire, value: GroupPart["groupedBy"]): GroupPart["groupedBy"] {
  switch (wire.choice(GROUPED_BY, "kind of group", typeof value)) {
    case "string":
      return wire.text(value as string | undefined);
    case "number":
      return wire.double(value as number | undefined);
    case "boolean":
      return wire.flag(value as boolean | undefined);
    default:
      return undefined;
  }
}

const date: Codec<{ readonly instant: bigint; readonly text: string }> = (wire, value) => ({
  instant: wire.instant(value?.instant),
  text: wire.text(value?.text),
});

type PartOf<Kind> = Extract<PropertyPart, { readonly kind: Kind }>;

/** Places in this table are sent: it only grows. */
const PARTS: { readonly [Kind in PropertyPart["kind"]]: Codec<PartOf<Kind>> } = {
  numbers: (wire, part) => ({
    kind: "numbers",
    count: wire.count(part?.count),
    sum: wire.list(part?.sum, double),
    minimum: wire.optional(part?.minimum, double),
    maximum: wire.optional(part?.maximum, double),
    distinct: wire.optional(part?.distinct, (to, value) => ({
      values: to.doubles(value?.values),
      counts: to.doubles(value?.counts),
    })),
  }),
  texts: (wire, part) => ({
    kind: "texts",
    count: wire.count(part?.count),
    distinct: wire.optional(part?.distinct, (to, value) => ({
      values: to.list(value?.values, text),
      counts: to.list(value?.counts, count),
    })),
  }),
  booleans: (wire, part) => ({
    kind: "booleans",
    totalTrue: wire.count(part?.totalTrue),
    totalFalse: wire.count(part?.totalFalse),
  }),
  dates: (wire, part) => ({
    kind: "dates",
    count: wire.count(part?.count),
    minimum: wire.optional(part?.minimum, date),
    maximum: wire.optional(part?.maximum, date),
  }),
  references: (wire, part) => ({ kind: "references", count: wire.count(part?.count) }),
};
const KINDS = Object.keys(PARTS) as PropertyPart["kind"][];

const propertyPart: Codec<PropertyPart> = (wire, part) => {
  const kind = wire.choice(KINDS, "kind of aggregate", part?.kind);
  return (PARTS[kind] as Codec<PropertyPart>)(wire, part);
};

const groupPart: Codec<GroupPart> = (wire, value) => ({
  groupedBy: groupedBy(wire, value?.groupedBy),
  objectCount: wire.count(value?.objectCount),
  properties: wire.list(value?.properties, propertyPart),
});

export const shardAggregate: Codec<ShardAggregate> = (wire, value) => wire.list(value, groupPart);
