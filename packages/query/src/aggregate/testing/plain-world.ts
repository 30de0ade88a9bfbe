// A class with a property of every kind, its objects, and shards that answer for them.

import type { SchemaView, ShardRouter } from "@shoal/cluster";
import type {
  AggregatedProperty,
  AggregateQuery,
  ClassDefinition,
  Json,
  PropertyDefinition,
  ShardAggregation,
} from "@shoal/model";
import { type PlainObject, plainParts } from "@shoal/model/testing/plain-aggregate";
import type { ClassRecord, ShardAddress, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { SeededRandom } from "@shoal/seeded-random";
import { QueryEngine } from "../../query-engine.js";

export const PROPERTIES: readonly PropertyDefinition[] = [
  ["name", "string"],
  ["story", "text"],
  ["tags", "string[]"],
  ["age", "int"],
  ["price", "number"],
  ["marks", "number[]"],
  ["isOpen", "boolean"],
  ["flags", "boolean[]"],
  ["born", "date"],
  ["days", "date[]"],
  ["photo", "blob"],
  ["place", "geoCoordinates"],
  ["call", "phoneNumber"],
  ["owner", "Person"],
].map(([name = "", dataType = ""]) => ({ name, dataType: [dataType] }));

export const GROUPABLE = PROPERTIES.slice(0, 10).map(({ name }) => name);

const TEXTS = ["", "a", "b", "A", "ab", "é", "\u{e000}", "\u{1f600}", "zwei Wörter", "?!"];
const NUMBERS = [
  0,
  1,
  -1,
  2.5,
  0.1,
  0.2,
  0.3,
  1e6,
  -1e6,
  2 ** 53,
  2 ** 53 + 2,
  1e308,
  -1e308,
  5e-324,
  1e-5,
  123_456.789,
];
const DATES = [
  "2020-01-01T00:00:00Z",
  "2020-01-01T01:00:00+01:00",
  "2020-01-01T00:00:00.000000001Z",
  "1969-12-31T23:59:59.999999999Z",
  "0001-01-01T00:00:00Z",
  "2019-12-31T23:30:00-00:30",
];

export function randomObject(random: SeededRandom): PlainObject {
  const object: Record<string, Json> = {};
  const makers: Record<string, () => Json> = {
    name: () => random.pick(TEXTS),
    story: () => random.pick(TEXTS),
    tags: () => random.list(3, () => random.pick(TEXTS)),
    age: () => random.below(7) - 3,
    price: () => (random.next() < 0.3 ? Math.round(random.next() * 1000) / 100 : random.pick(NUMBERS)),
    marks: () => random.list(3, () => random.pick(NUMBERS)),
    isOpen: () => random.next() < 0.5,
    flags: () => random.list(3, () => random.next() < 0.5),
    born: () => random.pick(DATES),
    days: () => random.list(3, () => random.pick(DATES)),
    photo: () => "AAAA",
    owner: () => random.list(3, () => "svc://localhost/0"),
  };
  for (const [name, make] of Object.entries(makers)) if (random.next() < 0.8) object[name] = make();
  return object;
}

/** All that can be asked of the property. */
export function allOf(name: string, topOccurrences = 3): AggregatedProperty {
  const [type = ""] = PROPERTIES.find((property) => property.name === name)?.dataType ?? [];
  const element = type.replace("[]", "");
  const isNumber = element === "int" || element === "number";
  const isText = element === "string" || element === "text" || element === "blob";
  return {
    name,
    numbers: isNumber,
    distribution: isNumber,
    topOccurrences: isText ? topOccurrences : undefined,
    dates: element === "date",
    booleans: element === "boolean",
  };
}

export function aggregateQuery(change: Partial<AggregateQuery>): AggregateQuery {
  return { className: "Shop", where: undefined, groupBy: undefined, limit: undefined, properties: [], ...change };
}

const record: ClassRecord = {
  definition: { class: "Shop", properties: PROPERTIES } as ClassDefinition,
  classId: "shop",
  dimensions: undefined,
  sharding: { shards: [], virtualShards: [], assignments: [] },
};

export interface AskedShard {
  readonly shard: ShardAddress;
  readonly aggregation: ShardAggregation;
  readonly context: RequestContext;
}

/** `result` stands in for a shard's own result; it may throw. */
export function engineOver(
  shardObjects: readonly (readonly PlainObject[])[],
  options: {
    readonly aggregateBytesMax?: number;
    readonly result?: (asked: AskedShard) => ReturnType<ShardService["aggregate"]>;
  } = {},
) {
  const asked: AskedShard[] = [];
  const addresses = shardObjects.map((_, at) => ({ classId: "shop", className: "Shop", shardName: `s${at}` }));
  const node: Pick<ShardService, "aggregate"> = {
    aggregate: async (shard, aggregation, context) => {
      asked.push({ shard, aggregation, context });
      if (options.result !== undefined) return options.result({ shard, aggregation, context });
      return plainParts(shardObjects[addresses.indexOf(shard)] ?? [], PROPERTIES, aggregation);
    },
  };
  const router: ShardRouter = {
    shardOf: () => {
      throw new Error("an aggregation asks no shard for an id");
    },
    shardsOf: () => addresses,
    node: () => node as ShardService,
  };
  const schema: SchemaView = {
    snapshot: { historyId: "h", version: 1, classes: [record] },
    classRecord: (name) => (name === "Shop" ? record : undefined),
    refresh: () => Promise.resolve(),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const limits = { defaultLimit: 25, maximumResults: 10_000 };
  const { aggregateBytesMax } = options;
  const engine = new QueryEngine({
    schema,
    router,
    limits,
    ...(aggregateBytesMax === undefined ? {} : { aggregateBytesMax }),
  });
  return { engine, asked };
}
