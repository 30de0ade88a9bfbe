/**
 * Prints CPU µs a request of the GraphQL edge alone: prepared queries of 100 and 784 dimensions over a query service that
 * answers ready rows, the same through Apollo Server, and how long hostile documents take to be refused.
 *
 *   npx vitest bench --run packages/gateway/src/graphql/graphql-edge
 */
import { SPEC_PROFILE } from "@shoal/model";
import type { GetRow, QueryService, ReferencedRow } from "@shoal/query";
import { bench } from "vitest";
import { GraphQlHandler } from "./handler.js";
import { LibraryView, libraryClass, property, storedObject } from "./testing/library.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };
const WORD = libraryClass("Word", [
  property("text", "text"),
  property("category", "string"),
  property("rank", "int"),
  property("price", "int"),
  property("similar", "Word"),
]);
const ROWS: readonly GetRow[] = Array.from({ length: 10 }, (_, i) => {
  const object = storedObject("Word", i, { text: `word${i}`, category: `cat${i}`, rank: i * 1000, price: i * 7 });
  return { id: object.id, object, certainty: Math.fround(0.9731234 - i / 97) };
});
/** A hundred rows that refer to three others, which refer to three others. */
const LINKED: readonly GetRow[] = Array.from({ length: 100 }, (_, i) => ({
  ...(ROWS[i % 10] as GetRow),
  references: new Map([["similar", targetsOf(i, 1)]]),
}));

function targetsOf(first: number, levels: number): readonly ReferencedRow[] {
  return [1, 2, 3].map((step) => ({
    ...(ROWS[(first + step) % 10] as GetRow & ReferencedRow),
    references: new Map(levels === 0 ? [] : [["similar", targetsOf(first + step, levels - 1)]]),
  }));
}

const NUMBERS = {
  kind: "numbers",
  count: 1e5,
  sum: 5e9,
  minimum: 0,
  maximum: 1e5,
  mean: 5e4,
  median: 1,
  mode: 2,
} as const;
const ready: QueryService = {
  additional: async () => [],
  get: ({ references }) => Promise.resolve(references === undefined ? ROWS : LINKED),
  objectById: () => Promise.resolve(undefined),
  list: () => Promise.resolve([]),
  explore: () => Promise.resolve(ROWS.map(({ id }) => ({ id, className: "Word", certainty: 0.75 }))),
  aggregate: ({ groupBy, properties }) =>
    Promise.resolve(
      (groupBy === undefined ? [undefined] : Array.from({ length: 10 }, (_, i) => `cat${i}`)).map((groupedBy) => ({
        groupedBy,
        objectCount: 1e5,
        properties: properties.map(() => NUMBERS),
      })),
    ),
};

function bodies(
  count: number,
  spelling: "float32" | "float64",
  dimensions: number,
  useVariable = false,
): readonly Buffer[] {
  return Array.from({ length: count }, (_, i) => {
    const numbers = Array.from({ length: dimensions }, (_, j) => {
      const value = Math.fround(Math.sin(i * 7919 + j * 104729) / Math.sqrt(dimensions));
      return spelling === "float32" ? Number(value.toPrecision(8)) : value;
    });
    const vector = useVariable ? "$v" : `[${numbers.join(",")}]`;
    const query = `${useVariable ? "query($v:[Float]!)" : ""}{ Get { Word(nearVector: {vector: ${vector}}, limit: 10) { text _additional { id certainty } } } }`;
    return Buffer.from(JSON.stringify(useVariable ? { query, variables: { v: numbers } } : { query }));
  });
}

/** The filters that are benchmarked: And of two properties, a prefix, and one beside a vector. */
function filtered(count: number, where: (i: number) => string, near = ""): readonly Buffer[] {
  return Array.from({ length: count }, (_, i) => {
    const query = `{ Get { Word(where: ${where(i)}${near}, limit: 10) { text _additional { id } } } }`;
    return Buffer.from(JSON.stringify({ query }));
  });
}

const both = (i: number) =>
  `{operator: And, operands: [{path: ["category"], operator: Equal, valueString: "cat${i % 10}"}, ` +
  `{path: ["price"], operator: LessThan, valueInt: ${i}}]}`;
const like = (i: number) => `{path: ["text"], operator: Like, valueText: "w${i}*"}`;
const category = (i: number) => `{path: ["category"], operator: Equal, valueString: "cat${i % 10}"}`;

async function cpuMicros(handler: GraphQlHandler, requests: readonly Buffer[], count: number): Promise<number> {
  const send = async (times: number) => {
    for (let i = 0; i < times; i++) await handler.execute(requests[i % requests.length] as Buffer, CONTEXT);
  };
  await send(Math.min(count, 3_000));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage();
    await send(count);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / count);
  }
  return best;
}

function handlerOf(prepareQueries: boolean): GraphQlHandler {
  return new GraphQlHandler({
    schema: new LibraryView([WORD]),
    query: ready,
    wire: SPEC_PROFILE,
    onFault: () => {},
    prepareQueries,
  });
}

function report(name: string, value: number, unit: string): void {
  process.stdout.write(`${name.padEnd(52)}${value.toFixed(1).padStart(9)} ${unit}\n`);
}

const attacks: readonly (readonly [string, string])[] = [
  ["depth 10,000", "{Get{Word".repeat(10_000)],
  ["100k aliases", `{Get{Word{${Array.from({ length: 100_000 }, (_, i) => `a${i}:text`).join(" ")}}}}`],
  ["fragment cycle", "{Get{Word{...a}}}fragment a on Word{...b}fragment b on Word{...a}"],
  [
    "cycle of 100 fragments",
    `{Get{Word{...f0}}}${Array.from({ length: 100 }, (_, i) => `fragment f${i} on Word{...f${(i + 1) % 100}}`).join("")}`,
  ],
  ["5 MB of spaces", `{Get{Word{text}}}${" ".repeat(5_000_000)}`],
  ["2 MB of spaces, allowed", `{Get{Word{text}}}${" ".repeat(2_000_000)}`],
  ["a filter of 700 clauses, allowed", `{Get{Word(where:{operator:Or operands:[${like(1).repeat(700)}]}){text}}}`],
  [
    "a filter of 45 clauses inside of one another, allowed",
    `{Get{Word(where:${"{operator:Not operands:".repeat(44)}${like(1)}${"}".repeat(44)}){text}}}`,
  ],
  [
    "a filter of 9,000 texts, allowed",
    `{Get{Word(where:{path:["text"] operator:ContainsAny valueText:[${'"x"'.repeat(9_000)}]}){text}}}`,
  ],
  ["900 aliases", `{Get{Word{${Array.from({ length: 900 }, (_, i) => `a${i}:text`).join(" ")}}}}`],
  [
    "a field 4 times in each of 99 fragments",
    `{Get{Word{${Array.from({ length: 99 }, (_, i) => `...f${i}`).join(" ")}}}}${Array.from({ length: 99 }, (_, i) => `fragment f${i} on Word{${"text ".repeat(4)}}`).join("")}`,
  ],
];
const once = { time: 0, iterations: 1, warmupTime: 0, warmupIterations: 0, throws: true };
bench("the GraphQL edge", measureAll, once);

async function measureAll(): Promise<void> {
  for (const [name, requests] of [
    ["100-d, float32 digits", bodies(1_000, "float32", 100)],
    ["100-d, float64 digits", bodies(1_000, "float64", 100)],
    ["784-d, float32 digits", bodies(500, "float32", 784)],
    ["784-d, float64 digits", bodies(500, "float64", 784)],
    ["100-d as a variable, float32 digits", bodies(1_000, "float32", 100, true)],
    ["And of string Equal and int LessThan", filtered(1_000, both)],
    ["Like", filtered(1_000, like)],
    ["100-d and string Equal", filtered(1_000, category, `, nearVector: {vector: [${Array(100).fill(0.1234567)}]}`)],
    ["Aggregate: count", [Buffer.from('{"query":"{Aggregate{Word{meta{count}}}}"}')]],
    ["Aggregate: mean, minimum, maximum", [Buffer.from('{"query":"{Aggregate{Word{rank{mean minimum maximum}}}}"}')]],
    [
      "Aggregate: ten groups with mean",
      [
        Buffer.from(
          '{"query":"{Aggregate{Word(groupBy:[\\"category\\"]){groupedBy{path value} meta{count} rank{mean}}}}"}',
        ),
      ],
    ],
    [
      "Explore: ten rows",
      [Buffer.from('{"query":"{Explore(nearVector:{vector:[1,2]}){beacon className certainty}}"}')],
    ],
    [
      "100 rows, 300 and 900 targets",
      [Buffer.from('{"query":"{Get{Word{similar{... on Word{similar{... on Word{text}}}}}}}"}')],
    ],
    ["list: limit 10, four properties", [Buffer.from('{"query":"{Get{Word(limit:10){text category rank price}}}"}')]],
  ] as const) {
    report(
      `prepared, ${name}`,
      await cpuMicros(handlerOf(true), requests, name.startsWith("100 rows") ? 500 : 20_000),
      "µs",
    );
    report(
      `Apollo Server, ${name}`,
      await cpuMicros(handlerOf(false), requests, name.startsWith("100 rows") ? 50 : 500),
      "µs",
    );
  }
  for (const [name, query] of attacks) {
    const handler = handlerOf(true);
    const body = Buffer.from(JSON.stringify({ query }));
    await handler.execute(Buffer.from('{"query":"{Get{Word{text}}}"}'), CONTEXT);
    for (const turn of ["first", "second"]) {
      const before = process.cpuUsage();
      await handler.execute(body, CONTEXT);
      const { user, system } = process.cpuUsage(before);
      report(`${turn} answer to ${name}`, (user + system) / 1000, "ms");
    }
  }
}
