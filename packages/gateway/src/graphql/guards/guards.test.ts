import { SPEC_PROFILE } from "@shoal/model";
import { expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { DEFAULT_GRAPHQL_LIMITS, type GraphQlLimits } from "../limits.js";
import { AUTHOR, LibraryQuery, LibraryView, libraryClass, property } from "../testing/library.js";
import { checkText } from "./check-text.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };
const NODE = libraryClass("Node", [property("next", "Node"), property("name", "text")]);
const handlerWith = (limits: Partial<GraphQlLimits>) =>
  new GraphQlHandler({
    onFault: () => {},
    schema: new LibraryView([NODE, AUTHOR]),
    query: new LibraryQuery(),
    wire: SPEC_PROFILE,
    limits,
  });
const handler = handlerWith({});

async function post(query: string, variables?: object) {
  const body = Buffer.from(JSON.stringify({ query, variables }));
  const before = process.cpuUsage();
  const response = await handler.execute(body, CONTEXT);
  const { user, system } = process.cpuUsage(before);
  return { json: JSON.parse(response.body.toString()), status: response.status, milliseconds: (user + system) / 1000 };
}

const many = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(" ");

const attacks: [string, string, string][] = [
  ["selections 10,000 deep", "{".repeat(10_000), "GRAPHQL_DEPTH_MAX"],
  [
    "valid selections 10,000 deep",
    `{Get{Node${"{next{...on Node".repeat(10_000)}{name}${"}}".repeat(10_000)}}}`,
    "GRAPHQL_DEPTH_MAX",
  ],
  ["lists 10,000 deep", `{Get{Node(nearVector:{vector:${"[".repeat(10_000)}`, "GRAPHQL_DEPTH_MAX"],
  ["objects 10,000 deep", `{Get{Node(nearVector:${"{a:".repeat(10_000)}`, "GRAPHQL_DEPTH_MAX"],
  ["types 10,000 deep", `query($a: ${"[".repeat(10_000)}`, "GRAPHQL_DEPTH_MAX"],
  ["100k aliases", `{Get{Node{${many(100_000, (i) => `a${i}: name`)}}}}`, "the query has more than 10000 tokens"],
  ["2,000 aliases", `{Get{Node{${many(2_000, (i) => `a${i}: name`)}}}}`, "the query has more than 1000 aliases"],
  [
    "one field 9,000 times",
    `{Get{Node{${"name ".repeat(9_000)}}}}`,
    "the query has more than 100000 pairs of fields at one place",
  ],
  [
    "a million numbers",
    `{Get{Node(nearVector:{vector:[${"1 ".repeat(1_000_000)}`,
    "the query has more than 80000 numbers",
  ],
  ["a filter of 20,000 numbers", `{Get{Node(where:{valueInt:[${"1,".repeat(20_000)}]}){name}}}`, "FILTER_VALUES_MAX"],
  ["a long text", `{Get{Node{name}}}${" ".repeat(5_000_000)}`, "the query has more than 2097152 characters"],
  [
    "many fragments",
    `{Get{Node{...f0}}} ${many(900, (i) => `fragment f${i} on Node{...f${i + 1}}`)}`,
    "the query has more than 100 fragments",
  ],
  [
    "fragments that double one another",
    `{Get{Node{...f0}}} ${many(90, (i) => `fragment f${i} on Node{a:next{...on Node{...f${i + 1}}} b:next{...on Node{...f${i + 1}}}}`)} fragment f90 on Node{name}`,
    "the query has more than 10000 fields and fragments, expanded",
  ],
  [
    "fragments that double one another and end in nothing",
    `{Get{Node{...f0}}} ${many(90, (i) => `fragment f${i} on Node{...f${i + 1} ...f${i + 1}}`)}`,
    "the query has more than 10000 fields and fragments, expanded",
  ],
  [
    "fragments that nest one another",
    `{Get{Node{...f0}}} ${many(99, (i) => `fragment f${i} on Node{next{...on Node{next{...on Node{...f${i + 1}}}}}}`)} fragment f99 on Node{name}`,
    "GRAPHQL_DEPTH_MAX",
  ],
  ["1,000 fields of Get", `{Get{${many(1_000, (i) => `a${i}: Node{name}`)}}}`, "GRAPHQL_CLASS_FIELDS_MAX"],
  [
    "500 Explores and fields of Aggregate",
    `{${many(250, (i) => `a${i}: Explore{beacon}`)} Aggregate{${many(250, (i) => `b${i}: Node{meta{count}}`)}}}`,
    "GRAPHQL_CLASS_FIELDS_MAX",
  ],
  ["50 pages of 10,000 rows", `{Get{${many(50, (i) => `a${i}: Node(limit:10000){name}`)}}}`, "GRAPHQL_ROWS_MAX"],
  [
    "a page of 10,000 rows, and references in references",
    `{Get{Node(limit:10000){${"next{...on Node{".repeat(30)}${many(80, (i) => `a${i}: next{...on Node{name}}`)}${"}}".repeat(30)}}}}`,
    "GRAPHQL_COST_MAX",
  ],
  [
    "many pages with deep references",
    `{Get{${many(10, (i) => `a${i}: Node(limit:9999){${"next{...on Node{".repeat(40)}name${"}}".repeat(40)}}`)}}}`,
    "GRAPHQL_COST_MAX",
  ],
  [
    "a cycle of two",
    "{Get{Node{...a}}} fragment a on Node{...b} fragment b on Node{...a}",
    'Cannot spread fragment "a" within itself via "b".',
  ],
  [
    "a cycle through fields",
    "{Get{Node{...a}}} fragment a on Node{next{...a}}",
    'Cannot spread fragment "a" within itself.',
  ],
  [
    "a long cycle",
    `{Get{Node{...f0}}} ${many(99, (i) => `fragment f${i} on Node{...f${(i + 1) % 99}}`)}`,
    'Cannot spread fragment "f0" within itself',
  ],
];

it.each(attacks)("refuses %s in 20 ms and says why", async (_name, query, reason) => {
  await post("{Get{Node{name ...f}}} fragment f on Node{name}");
  const { json, status, milliseconds } = await post(query);
  expect(status).toBe(200);
  expect(json.data).toBeUndefined();
  expect(json.errors[0].message).toContain(reason);
  // Generous: other things run on this machine. Measured figures are in the README.
  expect(milliseconds).toBeLessThan(150);
});

const edges: [string, keyof GraphQlLimits, number, string, string][] = [
  ["tokens", "graphqlTokensMax", 9, "{Get{Node{name}}}", "{Get{Node{name name}}}"],
  ["numbers", "graphqlNumbersMax", 2, near("1,2"), near("1,2,3")],
  ["characters", "graphqlQueryCharsMax", 20, "{Get{Node{name}}}   ", "{Get{Node{name}}}    "],
  ["aliases", "graphqlAliasesMax", 2, "{Get{Node{a:name b:name}}}", "{Get{Node{a:name b:name c:name}}}"],
  ["fields and fragments, expanded", "graphqlFieldsMax", 3, "{Get{Node{name}}}", "{Get{Node{name name}}}"],
  ["pairs of fields at one place", "graphqlFieldPairsMax", 1, "{Get{Node{name name}}}", "{Get{Node{name name name}}}"],
  [
    "fragments",
    "graphqlFragmentsMax",
    1,
    "{Get{Node{...f}}} fragment f on Node{name}",
    "{Get{Node{...f ...g}}} fragment f on Node{name} fragment g on Node{name}",
  ],
];

function near(numbers: string): string {
  return `{Get{Node(nearVector:{vector:[${numbers}]}){name}}}`;
}

it.each(edges)("refuses more %s than %s, and not as many", async (what, limit, max, allowed, refused) => {
  const limited = handlerWith({ [limit]: max });
  const ask = async (query: string) =>
    JSON.parse((await limited.execute(Buffer.from(JSON.stringify({ query })), CONTEXT)).body.toString());
  expect((await ask(allowed)).errors).toBeNull();
  expect((await ask(refused)).errors[0].message).toBe(`the query has more than ${max} ${what}`);
});

it("refuses fields that meet in many pairs through fragments or nesting, and bears what is left", async () => {
  const spreads = many(99, (i) => `...f${i}`);
  const meet = (each: number) =>
    `{Get{Node{${spreads}}}} ${many(99, (i) => `fragment f${i} on Node{${"name ".repeat(each)}}`)}`;
  expect((await post(meet(40))).json.errors[0].message).toContain(
    "the query has more than 100000 pairs of fields at one place",
  );
  const nested = (each: number) => {
    const leaf = `next{...on Node{${"name ".repeat(each)}}}`;
    return `{Get{Node{${`next{...on Node{${leaf.repeat(each)}}}`.repeat(each)}}}}`;
  };
  expect((await post(nested(10))).json.errors[0].message).toContain(
    "the query has more than 100000 pairs of fields at one place",
  );
  for (const query of [meet(3), nested(6)]) {
    const { json, milliseconds } = await post(query);
    expect(json.errors).toBeNull();
    expect(milliseconds).toBeLessThan(600);
  }
});

it("lets a vector of the largest size through", async () => {
  const vector = Array.from({ length: 65_535 }, (_, i) => (i % 7) / 3);
  expect((await post(`{Get{Node(nearVector:{vector:${JSON.stringify(vector)}}){name}}}`)).json.data).toEqual({
    Get: { Node: [] },
  });
  const text = "query($v:[Float]!){Get{Node(nearVector:{vector:$v}){name}}}";
  expect((await post(text, { v: vector })).json.data).toEqual({ Get: { Node: [] } });
});

it("counts tokens as GraphQL does", () => {
  const count = (text: string) => checkText(text, DEFAULT_GRAPHQL_LIMITS);
  expect(count("")).toBe(0);
  expect(count(" ,\t\r\n\uFEFF")).toBe(0);
  expect(count(" # {{{{ \n#")).toBe(0);
  // graphql-js makes a token of each comment.
  expect(() => count("#\n".repeat(DEFAULT_GRAPHQL_LIMITS.graphqlTokensMax + 1))).toThrow("tokens");
  expect(count("{ a1_b(x: -1.5e+3) }")).toBe(8);
  expect(count('"a \\" { b" "" """block " \\""" {""" x')).toBe(4);
  expect(count('"open\n}')).toBe(2);
  expect(count("?")).toBe(1);
});
