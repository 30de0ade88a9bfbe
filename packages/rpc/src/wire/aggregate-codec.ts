import type { AggregatedProperty, GroupPart, PropertyPart, ShardAggregate, ShardAggregation } from "@shoal/model";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";
import { readFilter, writeFilter } from "./filter-codec.js";

/** Places in this list stand on the wire: it only grows. */
const KINDS = ["numbers", "texts", "booleans", "dates", "references"] as const;
const GROUPED_BY = ["nothing", "string", "number", "boolean"] as const;

export function writeAggregation(writer: ByteWriter, aggregation: ShardAggregation): void {
  writer.optional(aggregation.filter, writeFilter);
  writer.optional(aggregation.groupBy, writeText);
  writer.list(aggregation.properties, writeProperty);
  writer.flag(aggregation.isWhole);
  // Bounds may be infinite.
  writer.double(aggregation.groupsMax);
  writer.double(aggregation.bytesMax);
}

export function readAggregation(reader: ByteReader): ShardAggregation {
  return {
    filter: reader.optional((from) => readFilter(from)),
    groupBy: reader.optional(readText),
    properties: reader.list(readProperty),
    isWhole: reader.flag(),
    groupsMax: reader.double(),
    bytesMax: reader.double(),
  };
}

function writeProperty(writer: ByteWriter, property: AggregatedProperty): void {
  writer.text(property.name);
  writer.flag(property.numbers);
  writer.flag(property.distribution);
  writer.optional(property.topOccurrences, (to, count) => to.double(count));
  writer.flag(property.dates);
  writer.flag(property.booleans);
}

function readProperty(reader: ByteReader): AggregatedProperty {
  return {
    name: reader.text(),
    numbers: reader.flag(),
    distribution: reader.flag(),
    topOccurrences: reader.optional(readDouble),
    dates: reader.flag(),
    booleans: reader.flag(),
  };
}

export function writeAggregate(writer: ByteWriter, aggregate: ShardAggregate): void {
  writer.list(aggregate, (to, group) => {
    writeGroupedBy(to, group.groupedBy);
    to.count(group.objectCount);
    to.list(group.properties, writePart);
  });
}

export function readAggregate(reader: ByteReader): ShardAggregate {
  return reader.list((from) => ({
    groupedBy: readGroupedBy(from),
    objectCount: from.count(),
    properties: from.list(readPart),
  }));
}

function writeGroupedBy(writer: ByteWriter, value: GroupPart["groupedBy"]): void {
  if (value === undefined) writer.byte(0);
  else if (typeof value === "string") {
    writer.byte(1);
    writer.text(value);
  } else if (typeof value === "number") {
    writer.byte(2);
    writer.double(value);
  } else {
    writer.byte(3);
    writer.flag(value);
  }
}

function readGroupedBy(reader: ByteReader): GroupPart["groupedBy"] {
  switch (reader.choice(GROUPED_BY, "kind of group")) {
    case "nothing":
      return undefined;
    case "string":
      return reader.text();
    case "number":
      return reader.double();
    case "boolean":
      return reader.flag();
  }
}

function writePart(writer: ByteWriter, part: PropertyPart): void {
  writer.byte(KINDS.indexOf(part.kind));
  switch (part.kind) {
    case "numbers":
      writer.count(part.count);
      writer.list(part.sum, writeDouble);
      writer.optional(part.minimum, writeDouble);
      writer.optional(part.maximum, writeDouble);
      writer.optional(part.distinct, (to, { values, counts }) => {
        to.floats(values);
        to.floats(counts);
      });
      return;
    case "texts":
      writer.count(part.count);
      writer.optional(part.distinct, (to, { values, counts }) => {
        to.list(values, writeText);
        to.list(counts, (each, count) => each.count(count));
      });
      return;
    case "booleans":
      writer.count(part.totalTrue);
      writer.count(part.totalFalse);
      return;
    case "dates":
      writer.count(part.count);
      writer.optional(part.minimum, writeDate);
      writer.optional(part.maximum, writeDate);
      return;
    case "references":
      writer.count(part.count);
  }
}

function readPart(reader: ByteReader): PropertyPart {
  const kind = reader.choice(KINDS, "kind of aggregate");
  switch (kind) {
    case "numbers":
      return {
        kind,
        count: reader.count(),
        sum: reader.list(readDouble),
        minimum: reader.optional(readDouble),
        maximum: reader.optional(readDouble),
        distinct: reader.optional((from) => ({ values: from.doubles(), counts: from.doubles() })),
      };
    case "texts":
      return {
        kind,
        count: reader.count(),
        distinct: reader.optional((from) => ({
          values: from.list(readText),
          counts: from.list((each) => each.count()),
        })),
      };
    case "booleans":
      return { kind, totalTrue: reader.count(), totalFalse: reader.count() };
    case "dates":
      return { kind, count: reader.count(), minimum: reader.optional(readDate), maximum: reader.optional(readDate) };
    case "references":
      return { kind, count: reader.count() };
  }
}

function writeDate(writer: ByteWriter, { instant, text }: { readonly instant: bigint; readonly text: string }): void {
  writer.instant(instant);
  writer.text(text);
}

function readDate(reader: ByteReader): { instant: bigint; text: string } {
  return { instant: reader.instant(), text: reader.text() };
}

function writeText(writer: ByteWriter, text: string): void {
  writer.text(text);
}

function readText(reader: ByteReader): string {
  return reader.text();
}

function writeDouble(writer: ByteWriter, value: number): void {
  writer.double(value);
}

function readDouble(reader: ByteReader): number {
  return reader.double();
}
