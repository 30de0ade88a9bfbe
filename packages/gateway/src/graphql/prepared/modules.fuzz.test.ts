import type { GetQuery, Json } from "@shoal/model";
import { type AdditionalProperty, EnabledModules, NEAR_TEXT } from "@shoal/module-api";
import type { GetRow } from "@shoal/query";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { BothWays } from "../testing/both-ways-suite.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "../testing/library.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_261_120);
const OFFERED = { list: true, search: true, restObject: true, restList: true };
const READS = { properties: false, vector: false, extras: false };

const TOKENS: AdditionalProperty = {
  name: "tokens",
  output: {
    type: {
      typeSuffix: "Tokens",
      fields: {
        word: { type: "String" },
        certainty: { type: "Float" },
        inner: {
          type: { typeSuffix: "TokensInner", fields: { startPosition: { type: "Int" }, is: { type: "Boolean" } } },
        },
      },
    },
    list: true,
  },
  arguments: {
    properties: { type: "String", list: true },
    certainty: { type: "Float" },
    limit: { type: "Int" },
    all: { type: "Boolean" },
  },
  offeredIn: OFFERED,
  includeNames: [],
  reads: READS,
  values: async () => [],
};

const NUMBERS: AdditionalProperty = {
  ...TOKENS,
  name: "numbers",
  output: { type: "Float", list: true },
  arguments: {},
};

const MODULES = new EnabledModules([
  {
    name: "fake",
    searchArguments: [{ ...NEAR_TEXT, offeredTo: "allClasses" }],
    additionalProperties: [TOKENS, NUMBERS],
    textTransformer: { transform: async (texts) => texts },
    meta: async () => ({}),
    [Symbol.asyncDispose]: async () => {},
  },
]);

/** Adds to each row what depends on the request and the row alone; now and then nothing. */
class ModuleQuery extends LibraryQuery {
  override async get(query: GetQuery): Promise<readonly GetRow[]> {
    const rows = await super.get(query);
    const isSearch = query.moduleSearches !== undefined;
    return rows.map((row, i) => ({
      ...row,
      certainty: isSearch ? Math.fround(0.9 - i / 10) : row.certainty,
      ...(query.additional === undefined
        ? {}
        : { additional: query.additional.map(({ name, given }) => addedValue(name, given as Json, i)) }),
    }));
  }
}

function addedValue(name: string, given: Json, row: number): Json {
  if (row % 3 === 2) return null;
  if (name === "numbers") return [row, 0.1, 1e-7, -3];
  return [
    { word: `"ö\n ${JSON.stringify(given)}`, certainty: 0.25, inner: { startPosition: row, is: row === 0 } },
    { word: null, inner: null },
  ];
}

/** Random requests with literals and variables, right and wrong ones. */
class Requests {
  readonly #random = seededRandom(SEED);
  #variables: Record<string, { type: string; value: unknown }> = {};

  #pick<T>(...from: readonly T[]): T {
    return this.#random.pick(from);
  }

  #maybe(text: () => string, share = 2): string {
    return this.#random.below(share) === 0 ? text() : "";
  }

  #value(type: string, literal: string): string {
    if (this.#random.below(5) !== 0) return literal;
    const name = `v${Object.keys(this.#variables).length}`;
    this.#variables[name] = { type, value: JSON.parse(literal) };
    return `$${name}`;
  }

  #text = () => JSON.stringify(this.#pick("car", "", "two words", "über", "a\\b", "x".repeat(30)));
  #number = () => this.#pick("0.5", "1", "0", "-2", "1e-3", "12");
  #texts = () => this.#pick("[]", this.#text(), `[${this.#text()}]`, `[${this.#text()}, ${this.#text()}]`);

  #movement(): string {
    const objects = this.#pick(
      '[{id: "a"}]',
      '{beacon: "svc://localhost/x"}',
      "[]",
      '[{id: "a", beacon: "b"}, {id: "c"}]',
    );
    return `{force: ${this.#value("Float!", this.#number())}, ${this.#maybe(() => `concepts: ${this.#texts()}, `)} ${this.#maybe(() => `objects: ${objects}`)}}`;
  }

  #nearText(): string {
    const concepts = this.#random.below(8) === 0 ? this.#pick("[5]", "null", "car", "[[]]") : this.#texts();
    const whole =
      this.#random.below(6) === 0
        ? this.#value("[String]!", concepts.startsWith("[") && !/[5n[][\]u]/.test(concepts) ? concepts : '["x"]')
        : concepts;
    const parts = [
      `concepts: ${whole}`,
      this.#maybe(() => `certainty: ${this.#value("Float", this.#number())}`),
      this.#maybe(() => `moveTo: ${this.#movement()}`, 3),
      this.#maybe(() => `moveAwayFrom: ${this.#movement()}`, 4),
      this.#maybe(() => `autocorrect: ${this.#pick("true", "false", "null")}`, 4),
    ];
    return `nearText: {${parts.filter((part) => part !== "").join(", ")}}`;
  }

  #tokens(): string {
    const args = [
      this.#maybe(() => `properties: ${this.#texts()}`),
      this.#maybe(() => `limit: ${this.#value("Int", this.#pick("1", "2", "30"))}`),
      this.#maybe(() => `certainty: ${this.#number()}`),
      this.#maybe(() => `all: ${this.#pick("true", "false")}`),
    ].filter((part) => part !== "");
    const inner = this.#pick(
      "{ word }",
      "{ c: certainty __typename }",
      "{ word inner { is startPosition __typename } again: word }",
    );
    return `tokens${args.length === 0 ? "" : `(${args.join(", ")})`} ${inner}`;
  }

  #additional(): string {
    const fields = [
      this.#maybe(() => "id"),
      this.#maybe(() => "certainty"),
      this.#maybe(() => "numbers"),
      this.#maybe(() => `a: ${this.#tokens()}`),
      this.#maybe(() => `b: ${this.#tokens()}`, 3),
    ].join(" ");
    return `_additional { ${fields.trim() === "" ? "numbers" : fields} }`;
  }

  next(): Buffer {
    this.#variables = {};
    const args = [
      this.#maybe(() => `limit: ${this.#pick("1", "4")}`),
      this.#maybe(() => this.#nearText(), 1),
      this.#maybe(() => "nearVector: {vector: [0.5, 1]}", 12),
    ].filter((part) => part !== "");
    const get = `Get { Book${`(${args.join(", ")})`} { ${this.#maybe(() => "isbn")} ${this.#additional()} } }`;
    const explore = `Explore(${this.#nearText()}) { beacon certainty }`;
    const body = this.#random.below(6) === 0 ? explore : get;
    const declared = Object.entries(this.#variables).map(([name, { type }]) => `$${name}: ${type}`);
    const variables = Object.fromEntries(Object.entries(this.#variables).map(([name, { value }]) => [name, value]));
    const query = `${declared.length === 0 ? "" : `query(${declared.join(", ")})`} { ${body} }`;
    return Buffer.from(JSON.stringify({ query, ...(declared.length === 0 ? {} : { variables }) }));
  }
}

it(`what modules offer is answered alike, prepared or not (seed ${SEED})`, async () => {
  const both = new BothWays(new LibraryView(LIBRARY_CLASSES), () => new ModuleQuery(), MODULES);
  const requests = new Requests();
  for (let round = 0; round < 1_500; round++) {
    const bytes = requests.next();
    await both.compare(bytes, bytes.toString());
  }
  expect(both.seen.prepared).toBeGreaterThan(700);
  expect(both.seen.refused).toBeGreaterThan(30);
});
