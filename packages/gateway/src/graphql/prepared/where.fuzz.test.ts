import { SPEC_PROFILE } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { parseValue, valueFromASTUntyped } from "graphql";
import { expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { CONTEXT } from "../testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "../testing/library.js";
import { WhereGenerator } from "../testing/random-where.js";
import { PreparedQueries } from "./prepared-queries.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
const TEMPLATES = 1_200;
const REQUESTS_A_TEMPLATE = 4;

/** A request with holes for its literals, so that each body of it has others. */
class Template {
  readonly #text: string;
  readonly #literals: (() => string)[] = [];
  readonly #variables = new Map<string, () => string>();

  constructor(random: SeededRandom) {
    const isAggregate = random.next() < 0.3;
    const declared: string[] = [];
    const generator = new WhereGenerator(random, (type, literal) => {
      if (random.next() < 0.8) return `«${this.#literals.push(literal) - 1}»`;
      const name = random.next() < 0.05 ? "path" : `v${declared.length}`;
      const typeHere = isAggregate ? type.replace("GetObjects", "AggregateObjects") : type;
      declared.push(`$${name}: ${random.next() < 0.95 ? typeHere : "Int"}${random.next() < 0.1 ? "!" : ""}`);
      if (random.next() < 0.95) this.#variables.set(name, literal);
      return `$${name}`;
    });
    const where = `where: ${generator.clause()}`;
    const near = random.next() < 0.3 ? ", nearVector: {vector: [0.5, 1]}" : "";
    const field = isAggregate
      ? `Aggregate { Book(${where}) { meta { count } } }`
      : `Get { Book(limit: 3, ${where}${near}) { isbn } }`;
    this.#text = `query q${declared.length === 0 ? "" : `(${declared.join(", ")})`} { ${field} }`;
  }

  body(): Buffer {
    const query = this.#filled(this.#text);
    const variables = [...this.#variables].map(([name, literal]) => `"${name}":${jsonOf(this.#filled(literal()))}`);
    return Buffer.from(`{"query":${JSON.stringify(query)},"variables":{${variables.join(",")}}}`);
  }

  #filled(text: string): string {
    return text.replace(/«(\d+)»/g, (_hole, index) => this.#filled(this.#literals[Number(index)]?.() ?? ""));
  }
}

/** A literal of GraphQL as JSON; its numbers stay as they are written. */
function jsonOf(literal: string): string {
  try {
    JSON.parse(literal);
    return literal;
  } catch {
    return JSON.stringify(valueFromASTUntyped(parseValue(literal)));
  }
}

it(`answers filters alike, prepared and plain, whatever their values are (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const schema = new LibraryView(LIBRARY_CLASSES);
  const [preparedQuery, plainQuery] = [new LibraryQuery(), new LibraryQuery()];
  const shared = { onFault: () => {}, schema, wire: SPEC_PROFILE };
  const prepared = new GraphQlHandler({ ...shared, query: preparedQuery, limits: { filterTextCharsMax: 20 } });
  const plain = new GraphQlHandler({
    ...shared,
    query: plainQuery,
    prepareQueries: false,
    limits: { filterTextCharsMax: 20 },
  });
  const seen = { prepared: 0, refusedWhenPrepared: 0, responded: 0, refused: 0 };
  let isPrepared = false;
  const execute = PreparedQueries.prototype.execute;
  PreparedQueries.prototype.execute = function (...args) {
    const response = execute.apply(this, args);
    isPrepared = response !== undefined;
    return response;
  };
  try {
    for (let i = 0; i < TEMPLATES; i++) {
      const template = new Template(random);
      for (let turn = 0; turn < REQUESTS_A_TEMPLATE; turn++) {
        const body = template.body();
        const context = `seed ${SEED}, template ${i}, turn ${turn}: ${body.toString()}`;
        plainQuery.asked.length = 0;
        preparedQuery.asked.length = 0;
        const expected = (await plain.execute(body, CONTEXT)).body.toString();
        const got = await prepared.execute(body, CONTEXT);
        expect(got.body.toString(), context).toBe(expected);
        expect(got.status, context).toBe(200);
        expect(preparedQuery.asked, context).toEqual(plainQuery.asked);
        const isRefused = /could not extract filters|invalid 'where' filter/.test(expected);
        if (isPrepared) seen.prepared++;
        if (isPrepared && isRefused) seen.refusedWhenPrepared++;
        if (plainQuery.asked.length > 0) seen.responded++;
        if (isRefused) seen.refused++;
      }
    }
  } finally {
    PreparedQueries.prototype.execute = execute;
  }
  // The generator does what it is for.
  const all = TEMPLATES * REQUESTS_A_TEMPLATE;
  expect(seen.responded).toBeGreaterThan(all / 4);
  expect(seen.prepared).toBeGreaterThan(all / 4);
  expect(seen.refused).toBeGreaterThan(all / 10);
  expect(seen.refusedWhenPrepared).toBeGreaterThan(all / 100);
});
