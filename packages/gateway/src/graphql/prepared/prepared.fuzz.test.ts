import { SPEC_PROFILE } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "../testing/library.js";
import { WhereGenerator } from "../testing/random-where.js";
import { PreparedQueries } from "./prepared-queries.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };
const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
const REQUESTS = Number(process.env.SHOAL_FUZZ_REQUESTS ?? 400);
const OTHER_LITERALS = [
  "1.5",
  "2",
  '\\"x\\"',
  "null",
  "[2]",
  "99999999999999999999",
  "1e999",
  "true",
  "-0",
  "{}",
  "$v0",
];

/** Requests over the library's schema: mostly valid, with literals of every kind, and mistakes of every kind. */
class RequestGenerator {
  #variables: Record<string, unknown> = {};
  #declared: string[] = [];
  #fragments: string[] = [];

  constructor(private readonly random: SeededRandom) {}

  body(): string {
    this.#variables = {};
    this.#declared = [];
    this.#fragments = [];
    const classes = this.list(this.rare() ? 3 : 1, () => this.classField());
    const selection = `${this.space()}${this.alias("")}Get${this.space()}{${classes}}${this.rare() ? " __typename" : ""}`;
    const name = this.rare() ? this.pick([" a", " b"]) : "";
    const isShort = this.#declared.length === 0 && name === "" && this.random.next() < 0.7;
    const head = isShort ? "" : `query${name}${this.#declared.length > 0 ? `(${this.#declared.join(", ")})` : ""}`;
    let text = `${head}{${selection}}${this.#fragments.join(" ")}`;
    if (this.rare()) text = this.broken(text);
    if (this.rare()) text += this.pick([" query c { __typename }", "#tail", " {", "\n#x\n"]);
    const request: [string, unknown][] = [["query", text]];
    if (Object.keys(this.#variables).length > 0) request.push(["variables", this.#variables]);
    else if (this.rare()) request.push(["variables", this.pick([null, {}, { unused: 1 }])]);
    if (this.rare()) request.push(["operationName", this.pick(["a", "b", "", null])]);
    if (this.random.next() < 0.3) request.reverse();
    const json = JSON.stringify(Object.fromEntries(request), null, this.rare() ? 1 : 0);
    return this.rare() ? json.replace(/1\b/, this.pick(["1.0", "1e0", "01", "10000000000000000000000"])) : json;
  }

  /** The bytes of a body with some of them changed, left out or doubled. */
  damaged(body: string): Buffer {
    const bytes = [...Buffer.from(body)];
    for (let times = 1 + this.random.below(3); times > 0; times--) {
      const at = this.random.below(bytes.length);
      const dice = this.random.next();
      if (dice < 0.4) bytes.splice(at, 1);
      else if (dice < 0.6) bytes.splice(at, 0, ...bytes.slice(at, at + 5));
      else if (dice < 0.8) bytes[at] = this.random.below(256);
      else bytes[at] = this.pick([34, 92, 44, 123, 125, 91, 93, 48, 46, 101, 45, 32, 10, 0, 255, 35]);
    }
    return Buffer.from(bytes);
  }

  private classField(): string {
    const name = this.pick(["Book", "Book", "Book", "Author", "Shelf_2", ...(this.rare() ? ["Nothing"] : [])]);
    const directive = this.rare() ? this.directive() : "";
    return `${this.alias("c")}${name}${this.arguments()}${directive}${this.space()}{${this.selection(name, 0)}}`;
  }

  private arguments(): string {
    const made: string[] = [];
    if (this.random.next() < 0.6) made.push(`limit:${this.space()}${this.value("Int", () => this.int())}`);
    if (this.random.next() < 0.2) made.push(`offset: ${this.value("Int", () => this.int())}`);
    if (this.random.next() < 0.6) {
      const vector = this.value("[Float]!", () => this.vector());
      const near = `{vector: ${vector}${this.certainty()}}`;
      made.push(`nearVector: ${this.value("GetObjectsBookNearVectorInpObj", () => near, 0.03)}`);
    }
    if (this.random.next() < 0.2) {
      const id = this.value("String", () => this.string());
      made.push(`nearObject: {${this.pick(["id", "beacon"])}: ${id}${this.certainty()}}`);
    }
    if (this.random.next() < 0.35) {
      const write = (type: string, literal: () => string) => this.value(type, literal, 0.1);
      const where = new WhereGenerator(this.random, write).clause();
      made.push(`where: ${this.value("GetObjectsBookWhereInpObj", () => where, 0.03)}`);
    }
    if (this.rare()) made.push(this.pick(["foo: 1", "limit: 1", "nearVector: null", "nearVector: {}", "where: {}"]));
    return made.length === 0 ? "" : `(${made.join(this.pick([", ", " ", ",\n"]))})`;
  }

  private certainty(): string {
    return this.random.next() < 0.4 ? `, certainty: ${this.value("Float", () => this.float())}` : "";
  }

  /** A literal, or a variable that holds it. */
  private value(type: string, literal: () => string, variableChance = 0.25): string {
    const text = literal();
    if (this.random.next() >= variableChance) return text;
    const name = `v${this.#declared.length}`;
    const standard = this.rare() ? ` = ${text}` : "";
    this.#declared.push(
      `$${name}: ${this.rare() ? this.pick(["Int", "Float", "String", "[Float]", "Boolean!"]) : type}${standard}`,
    );
    if (!this.rare()) this.#variables[name] = asJson(text);
    return `$${name}`;
  }

  private int(): string {
    if (!this.rare()) return this.pick(["0", "1", "2", "3", "7", "-1", "-3", "3000000000"]);
    return this.pick([
      "2.0",
      '"5"',
      "null",
      "true",
      "99999999999999999999",
      "12345678901234567",
      "1e3",
      "abc",
      "[1]",
      "01",
      "1a",
    ]);
  }

  private float(): string {
    if (!this.rare()) return this.pick(["0.5", "1", "0", "-0.25", "1e-3", "0.123456789012345678"]);
    return this.pick(['"x"', "null", "1e999", "1.", ".5", "true", "-"]);
  }

  private vector(): string {
    if (this.rare())
      return this.pick([
        "[]",
        "0.5",
        "null",
        '["a"]',
        "[1, null]",
        "[1e39, 2]",
        "[1,]",
        "[,1]",
        "[[1]]",
        "[1 $x]",
        "{}",
      ]);
    const length = this.pick([1, 2, 3, 20]);
    const numbers = Array.from({ length }, () => {
      const digits = this.random.below(18);
      const signed = `${this.random.next() * 2 - 1}`;
      return this.pick([signed, (this.random.next() * 3).toFixed(digits), "1", "-0", "0.0", "1E-7"]);
    });
    return `[${numbers.join(this.pick([",", ", ", " ", "\n  ,"]))}]`;
  }

  private string(): string {
    const id = "01010101-0101-0101-0101-010101010101";
    if (!this.rare()) return JSON.stringify(this.pick([id, "", "svc://localhost/x", "ünï 🐟"]));
    return this.pick(['"a\\"b"', '"""block"""', "5", "null", '"\\u00e9"', '"a\nb"', '"open', "enum"]);
  }

  private selection(className: string, depth: number): string {
    const fields: Record<string, string[]> = {
      Book: ["title", "isbn", "pages", "price", "inPrint", "published", "tags", "ratings", "years", "flags", "cover"],
      Author: ["name", "born"],
      Shelf_2: [],
    };
    const make = (): string => {
      const dice = this.random.next();
      if (dice < 0.3) return `_additional${this.space()}{${this.list(2, () => this.additional())}}`;
      if (dice < 0.36 && className === "Book") return "place { latitude l: longitude }";
      if (dice < 0.4 && className === "Book") return "phone { input national valid __typename }";
      if (dice < 0.43) return `${this.alias("t")}__typename`;
      if (dice < 0.46 && className === "Book") return "writtenBy { ... on Author { name _additional { id } } }";
      if (dice < 0.52 && depth < 2) return this.fragment(className, depth);
      if (dice < 0.53) return this.pick(["nothing", "title { x }", "place", "_additional", "x: title x: isbn"]);
      const names = fields[className] ?? [];
      const name = names.length === 0 ? "__typename" : this.pick(names);
      return `${this.alias("p")}${name}${this.rare() ? this.directive() : ""}`;
    };
    return this.list(3, make);
  }

  private fragment(className: string, depth: number): string {
    const type = this.rare() ? this.pick(["Author", "Book", "Nothing"]) : className;
    const inner = this.selection(className, depth + 1);
    if (this.random.next() < 0.5)
      return `... ${this.rare() ? "" : `on ${type}`}${this.rare() ? this.directive() : ""} {${inner}}`;
    const name = `f${this.#fragments.length}`;
    this.#fragments.push("");
    this.#fragments[this.#fragments.length - 1] = ` fragment ${name} on ${type} {${inner}}`;
    return `...${name}`;
  }

  private additional(): string {
    const name = this.pick(["id", "certainty", "vector", "__typename", "classification { id basedOn k: completed }"]);
    return `${this.alias("a")}${this.rare() && this.rare() ? "distance" : name}`;
  }

  private directive(): string {
    let condition = this.value("Boolean!", () => this.pick(["true", "false", ...(this.rare() ? ["1", "null"] : [])]));
    if (this.random.next() < 0.2) {
      // It may be null where null is no condition: its default makes it valid there.
      condition = `$v${this.#declared.length}`;
      this.#declared.push(`${condition}: Boolean = ${this.pick(["true", "false"])}`);
      if (this.random.next() < 0.8) this.#variables[condition.slice(1)] = this.pick([null, null, true, false]);
    }
    return ` @${this.pick(["skip", "include"])}(if: ${condition}) `;
  }

  private broken(text: string): string {
    const at = this.random.below(text.length);
    return this.pick([
      text.slice(0, at),
      `${text.slice(0, at)}${this.pick(["?", "é", "\\", '"', "1", "}", "\u0007", "#"])}${text.slice(at)}`,
    ]);
  }

  private alias(prefix: string): string {
    return prefix !== "" && this.random.next() < 0.2 ? `${prefix}${this.random.below(3)}: ` : "";
  }

  private list(most: number, make: () => string): string {
    return Array.from({ length: 1 + this.random.below(most) }, make).join(this.pick([" ", ", ", "\n  ", "\t"]));
  }

  private space(): string {
    return this.pick(["", " ", "\n", ",", "\r\n", " # note\n"]);
  }

  private rare(): boolean {
    return this.random.next() < 0.06;
  }

  private pick<T>(items: readonly T[]): T {
    return this.random.pick(items);
  }
}

function asJson(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return literal.startsWith("[") ? [0.5, 1] : literal.startsWith("{") ? { operator: literal } : 1;
  }
}

it(`answers prepared and plain requests alike, byte by byte (seed ${SEED})`, async () => {
  const generator = new RequestGenerator(seededRandom(SEED));
  const schema = new LibraryView(LIBRARY_CLASSES);
  const preparedQuery = new LibraryQuery();
  const plainQuery = new LibraryQuery();
  const shared = { onFault: () => {}, schema, wire: SPEC_PROFILE };
  const prepared = new GraphQlHandler({ ...shared, query: preparedQuery, limits: { preparedQueriesMax: 50_000 } });
  const plain = new GraphQlHandler({ ...shared, query: plainQuery, prepareQueries: false });
  const seen = { prepared: 0, failed: 0, refused: 0 };
  const execute = PreparedQueries.prototype.execute;
  PreparedQueries.prototype.execute = function (...args) {
    const response = execute.apply(this, args);
    if (response !== undefined) seen.prepared++;
    return response;
  };
  try {
    for (let i = 0; i < REQUESTS; i++) {
      const body = generator.body();
      // Every body goes twice, once with other numbers of the same shape, once with a literal of another kind, and
      // damaged: all but the first when its template is known.
      const changed = body.replace(/\b[1-9]\b(?![.\d])/g, (digit) => String((Number(digit) % 9) + 1));
      const otherKind = body.replace(/(?<=[:[] ?)-?\d[\d.]*\b/, OTHER_LITERALS[i % OTHER_LITERALS.length] ?? "");
      for (const [turn, sent] of [body, body, changed, otherKind, generator.damaged(body)].entries()) {
        const bytes = typeof sent === "string" ? Buffer.from(sent) : sent;
        const context = `seed ${SEED}, request ${i}, turn ${turn}: ${bytes.toString("latin1")}`;
        plainQuery.asked.length = 0;
        preparedQuery.asked.length = 0;
        const expected = await plain.execute(bytes, CONTEXT);
        const got = await prepared.execute(bytes, CONTEXT);
        const text = expected.body.toString();
        expect(got.body.toString(), context).toBe(text);
        expect(got.status, context).toBe(expected.status);
        expect(preparedQuery.asked, context).toEqual(plainQuery.asked);
        if (text.startsWith('{"errors"')) seen.refused++;
        else if (text.includes('"errors":[')) seen.failed++;
      }
    }
  } finally {
    PreparedQueries.prototype.execute = execute;
  }
  // The generator does what it is for.
  expect(seen.prepared).toBeGreaterThan(REQUESTS);
  expect(seen.failed).toBeGreaterThan(REQUESTS / 10);
  expect(seen.refused).toBeGreaterThan(REQUESTS / 10);
});
