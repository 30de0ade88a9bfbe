import {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  type DataObject,
  type FilterValue,
  type JsonObject,
  type MeasuredRecall,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  objectIdFromBytes,
  type PropertyPart,
  type RowFields,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  type StoredObject,
  type VectorSearch,
  type VectorSearchHit,
} from "@shoal/model";
import type { CopyMessage, ShardConfiguration } from "@shoal/replication";
import type { ShortMemory } from "@shoal/runtime";
import type { SeededRandom } from "@shoal/seeded-random";
import type { NodeMessage } from "../copy-service.js";
import type { CopyReport, ShardAddress, ShardSize } from "../shard-service.js";

const TEXTS = ["", "a", "Zürich", "漢字 🐟", "x".repeat(300), 'quote " and \\', "line\nbreak"];
const DOUBLES = [0, -0, 1, -1.5, 2 ** 53, Number.MIN_VALUE, Number.MAX_VALUE, Number.NaN, Infinity, -Infinity, 0.1];
/** Beyond 64 bits, too: 9999-12-31. */
const INSTANTS = [0n, -1n, 253402300799999999999n, -62167219200000000000n, 2n ** 63n, -(2n ** 63n)];

/** Draws values of every shape that crosses the wire; the same ones for the same seed. */
export class RandomValues {
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  flag(): boolean {
    return this.#random.below(2) === 1;
  }

  oneOf<Value>(values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    return this.#random.pick(values);
  }

  list<Value>(draw: () => Value, most = 4): Value[] {
    return this.#random.list(most, draw);
  }

  maybe<Value>(draw: () => Value): Value | undefined {
    return this.flag() ? draw() : undefined;
  }

  text(): string {
    return this.oneOf(TEXTS);
  }

  double(): number {
    return this.oneOf(DOUBLES);
  }

  id(): ObjectId {
    return objectIdFromBytes(this.#random.bytes(16));
  }

  vector(): Float32Array {
    return Float32Array.from({ length: this.#random.below(40) }, () => this.double());
  }

  json(): JsonObject {
    return {
      text: this.text(),
      list: this.list(() => this.#random.below(9)),
      nested: { none: null, flag: this.flag() },
    };
  }

  address(): ShardAddress {
    const address = {
      classId: `c${this.#random.below(9)}`,
      className: this.oneOf(["Car", "Boat"]),
      shardName: this.text(),
    };
    return this.flag() ? address : { ...address, epoch: 1 + this.#random.below(2 ** 31) * 2 ** 20 };
  }

  fields(): RowFields {
    return { properties: this.flag(), vector: this.flag(), extras: this.flag() };
  }

  dataObject(): DataObject {
    return {
      id: this.id(),
      className: this.oneOf(["Car", "Boat"]),
      properties: this.maybe(() => this.json()),
      vector: this.maybe(() => this.vector()),
      extras: this.maybe(() => this.json()),
    };
  }

  storedObject(): StoredObject {
    return {
      id: this.id(),
      className: this.oneOf(["Car", "Boat"]),
      creationTimeUnix: this.#random.below(2 ** 31) * 1000,
      lastUpdateTimeUnix: this.double(),
      propertiesJson: new TextEncoder().encode(JSON.stringify(this.json())),
      vector: this.maybe(() => this.vector()),
      extras: this.maybe(() => this.json()),
    };
  }

  merge(): ObjectMerge {
    const additional = this.maybe(() => this.json());
    const ifEmpty = this.maybe(() => this.list(() => this.text()));
    return {
      id: this.id(),
      set: this.json(),
      clear: this.list(() => this.text()),
      append: { friends: this.list(() => this.json()) },
      remove: { friends: this.list(() => this.id()) },
      vector: this.maybe(() => this.vector()),
      ...(additional && { additional }),
      ...(ifEmpty && { ifEmpty }),
    };
  }

  filter(depth = 3): ShardFilter {
    if (depth > 0 && this.#random.below(3) === 0) {
      return { operator: this.oneOf(COMBINE_OPERATORS), operands: this.list(() => this.filter(depth - 1)) };
    }
    if (this.#random.below(5) === 0) {
      return { operator: "RefersTo", property: this.text(), targets: this.list(() => this.id()) };
    }
    return { operator: this.oneOf(COMPARE_OPERATORS), property: this.text(), value: this.filterValue() };
  }

  filterValue(): FilterValue {
    const kind = this.oneOf(["int", "number", "boolean", "string", "text", "date", "geoRange"] as const);
    switch (kind) {
      case "int":
      case "number":
        return { kind, values: this.list(() => this.double()) };
      case "boolean":
        return { kind, values: this.list(() => this.flag()) };
      case "string":
      case "text":
        return { kind, values: this.list(() => this.text()) };
      case "date":
        return { kind, values: this.list(() => this.oneOf(INSTANTS)) };
      case "geoRange":
        return {
          kind,
          values: this.list(() => ({ latitude: this.double(), longitude: -0, distanceMax: this.double() })),
        };
    }
  }

  search(): VectorSearch {
    return {
      vector: this.vector(),
      count: this.oneOf([0, 10, 1_000, Infinity]),
      fields: this.maybe(() => this.fields()),
      filter: this.maybe(() => this.filter()),
      shards: this.oneOf([undefined, 1, 300]),
      rowsMax: this.oneOf([undefined, 0, 7]),
    };
  }

  hit(): VectorSearchHit {
    const object = this.maybe(() => this.storedObject());
    return { id: object?.id ?? this.id(), distance: this.double(), object };
  }

  copyReport(): CopyReport {
    const state = this.oneOf(["IN_SYNC", "CATCHING_UP", "DAMAGED"] as const);
    return { address: this.address(), name: this.text(), state, isPrimary: this.flag(), end: 2 ** 40 };
  }

  shardSize(): ShardSize {
    return { address: this.address(), diskBytes: 2 ** 45 + this.#random.below(1_000), vectorMemoryBytes: 0 };
  }

  recall(): MeasuredRecall {
    return {
      target: this.double(),
      recall: this.double(),
      error: this.double(),
      candidates: this.double(),
      sample: this.#random.below(1_000),
      queries: this.oneOf(["asked", "rows"]),
      linked: this.#random.below(2 ** 31),
      measuredAtMs: this.#random.below(2 ** 31) * 1000,
    };
  }

  listing(): ObjectListing {
    return {
      order: this.oneOf(["newest", "id"]),
      after: this.maybe(() => this.id()),
      limit: this.oneOf([1, 25, 10_000, Infinity]),
      skip: this.#random.below(100),
      filter: this.maybe(() => this.filter()),
      fields: this.fields(),
    };
  }

  aggregation(): ShardAggregation {
    return {
      filter: this.maybe(() => this.filter()),
      groupBy: this.maybe(() => this.text()),
      properties: this.list(() => ({
        name: this.text(),
        numbers: this.flag(),
        distribution: this.flag(),
        topOccurrences: this.maybe(() => this.oneOf([0, 5, Infinity])),
        dates: this.flag(),
        booleans: this.flag(),
      })),
      isWhole: this.flag(),
      groupsMax: this.oneOf([0, 100, Infinity]),
      bytesMax: this.oneOf([1_000, Infinity]),
    };
  }

  aggregate(): ShardAggregate {
    return this.list(() => ({
      groupedBy: this.oneOf([undefined, "", "text", -0, 1.5, true, false]),
      objectCount: this.#random.below(2 ** 31) * 1000,
      properties: this.list(() => this.#part()),
    }));
  }

  configuration(): ShardConfiguration {
    const copies = () => this.list(() => this.text());
    return {
      version: this.#count(),
      epoch: this.#count(),
      primary: this.text(),
      claim: this.text(),
      inSync: copies(),
      eligible: copies(),
      learners: copies(),
      minInSync: this.#count(),
    };
  }

  /** One of each kind. */
  nodeMessages(): readonly NodeMessage[] {
    const stamp = () => ({ run: this.text(), at: this.#random.below(2 ** 31) / 1000 });
    const heartbeat = { stamp: stamp(), echo: this.maybe(stamp), holds: this.#numbers() };
    const copies = this.#copyMessages().map((message) => {
      return { type: "copy" as const, shard: this.text(), from: this.text(), to: this.text(), message };
    });
    const between = { shard: this.text(), from: this.text(), to: this.text(), session: this.text() };
    const number = this.#count();
    const piece = Buffer.from(this.#random.bytes(this.#random.below(300)));
    return [
      { type: "heartbeat", heartbeat },
      { type: "heartbeat", heartbeat, memory: this.#shortMemory() },
      { type: "graph", ...between, number, piece, isLast: this.flag() },
      { type: "graphTaken", ...between, number, isWanted: this.flag() },
      ...copies,
    ];
  }

  #shortMemory(): ShortMemory {
    const level = this.flag() ? "full" : "exhausted";
    return { level, usedBytes: this.#count(), bytesMax: this.#count() };
  }

  #copyMessages(): readonly CopyMessage[] {
    const count = () => this.#count();
    const text = () => this.text();
    const position = () => ({ epoch: count(), sequence: count() });
    const epochs = () => this.list(() => ({ epoch: count(), first: count() }));
    const journal = { end: position(), epochs: epochs(), base: count() };
    const row = () => this.maybe(() => Buffer.from(this.#random.bytes(this.#random.below(300))));
    const changes = () => this.list(() => ({ document: this.id(), row: row() }));
    const session = () => this.maybe(text);
    const last = this.maybe(() => ({ end: position(), epochs: epochs(), through: count() }));
    const epoch = count();
    return [
      { type: "hello", version: count(), claim: text(), number: count(), session: session(), ...journal },
      {
        ...{ type: "lead", epoch, lead: count(), needs: this.#numbers(), run: text(), receiver: text() },
        ...{ committed: count(), version: count(), start: count() },
      },
      { type: "led", epoch, lead: count(), end: position() },
      { type: "append", epoch, previous: position(), changes: changes(), committed: count() },
      { type: "appended", epoch, session: session(), end: position() },
      { type: "committed", epoch, sequence: count() },
      { type: "gap", epoch, end: position() },
      { type: "stale", version: count() },
      { type: "begin", epoch, session: text(), claim: text(), number: count(), common: position() },
      { type: "begun", session: text(), documents: this.list(() => this.id()) },
      {
        ...{ type: "rows", epoch, session: text(), index: count(), common: position(), isFull: this.flag() },
        ...{ rows: changes(), last },
      },
      { type: "rowsDone", session: text(), index: count() },
      { type: "askEnd", version: count(), isOpen: this.flag() },
      { type: "end", version: count(), end: position() },
      { type: "revoke", last: { epoch, lead: count() }, version: count() },
      { type: "revoked", version: count() },
    ];
  }

  #count(): number {
    return this.oneOf([0, 1, 127, 128, 70_000, 2 ** 40, Number.MAX_SAFE_INTEGER]);
  }

  #numbers(): ReadonlyMap<string, number> {
    return new Map(this.list(() => [this.text(), this.#count()] as const));
  }

  #part(): PropertyPart {
    const count = this.#random.below(1_000);
    const date = () => ({ instant: this.oneOf(INSTANTS), text: this.text() });
    switch (this.#random.below(5)) {
      case 0:
        return {
          kind: "numbers",
          count,
          sum: this.list(() => this.double()),
          minimum: this.maybe(() => this.double()),
          maximum: this.maybe(() => this.double()),
          distinct: this.maybe(() => ({ values: Float64Array.of(1, -2.5), counts: Float64Array.of(3, 2 ** 40) })),
        };
      case 1:
        return { kind: "texts", count, distinct: this.maybe(() => ({ values: ["", "b"], counts: [1, 2 ** 40] })) };
      case 2:
        return { kind: "booleans", totalTrue: count, totalFalse: this.#random.below(5) };
      case 3:
        return { kind: "dates", count, minimum: this.maybe(date), maximum: this.maybe(date) };
      default:
        return { kind: "references", count };
    }
  }
}
