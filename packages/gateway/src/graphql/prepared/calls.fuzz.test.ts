import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { BothWays } from "../testing/both-ways-suite.js";
import {
  LIBRARY_CLASSES,
  LIBRARY_OBJECTS,
  LibraryQuery,
  LibraryView,
  libraryClass,
  property,
  storedObject,
} from "../testing/library.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
const REQUESTS = Number(process.env.SHOAL_FUZZ_REQUESTS ?? 200);

const NODE = libraryClass("Node", [
  property("name", "text"),
  property("rank", "int"),
  property("next", "Node"),
  property("any", "Leaf", "Node", "Gone"),
]);
const LEAF = libraryClass("Leaf", [property("name", "string"), property("up", "Node")]);

const LEAVES = Array.from({ length: 4 }, (_, i) =>
  storedObject("Leaf", 150 + i, { name: `leaf "${i}" é`, ...(i % 2 === 0 ? { up: beacons(200, 201) } : {}) }),
);
const NODES = Array.from({ length: 6 }, (_, i) =>
  storedObject("Node", 200 + i, {
    ...(i === 4 ? {} : { name: `node ${i}`, rank: i * 10 }),
    next: i === 5 ? [] : beacons(200 + ((i + 1) % 6), 200 + i, 99),
    any: beacons(150 + (i % 4), 200 + i, 151, 250),
  }),
);

function beacons(...indexes: readonly number[]) {
  return indexes.map((index) => ({ beacon: `svc://localhost/${storedObject("Node", index, {}).id}` }));
}

/** Requests with references at every depth, group, Aggregate and Explore: mostly valid, with mistakes of every kind. */
class CallGenerator {
  #variables: Record<string, unknown> = {};
  #declared: string[] = [];
  #fragments: string[] = [];
  #aliases = 0;

  constructor(private readonly random: SeededRandom) {}

  body(): string {
    this.#variables = {};
    this.#declared = [];
    this.#fragments = [];
    this.#aliases = 0;
    const roots = this.list(2, () => this.root());
    const head = this.#declared.length > 0 ? `query(${this.#declared.join(", ")})` : this.rare() ? "query a" : "";
    const query = `${head}{${roots}}${this.#fragments.join("")}`;
    const hasVariables = Object.keys(this.#variables).length > 0;
    return JSON.stringify({
      query: this.rare() ? query.slice(0, -1) : query,
      ...(hasVariables ? { variables: this.#variables } : {}),
    });
  }

  private root(): string {
    const dice = this.random.next();
    const when = this.rare() ? this.directive() : "";
    if (dice < 0.4) return `${this.alias("g")}Get${when}{${this.list(2, () => this.get())}}`;
    if (dice < 0.75) return `${this.alias("r")}Aggregate${when}{${this.list(2, () => this.aggregate())}}`;
    if (dice < 0.94) return `${this.alias("e")}Explore${this.near([])}${when}{${this.list(3, () => this.explored())}}`;
    return this.random.next() < 0.3 ? "__typename" : this.introspection();
  }

  private introspection(): string {
    const when = this.random.next() < 0.5 ? this.directive() : "";
    return this.pick([
      `${this.alias("s")}__schema${when}{queryType{${this.list(2, () => this.leafField("name"))}}}`,
      `${this.alias("s")}__schema{directives{name${when}}}`,
      `${this.alias("t")}__type(name: ${this.value("String!", '"Node"')})${when}{name fields{name${when} type{kind}}}`,
      `${this.alias("t")}__type(name: "Nothing"){name}`,
    ]);
  }

  private explored(): string {
    const names = ["beacon", "className", "certainty", "__typename", ...(this.rare() ? ["id"] : [])];
    return this.leafField(this.pick(names));
  }

  private get(): string {
    const group = this.random.next() < 0.3 ? [`group: ${this.group()}`] : [];
    const when = this.rare() ? this.directive() : "";
    return `${this.alias("n")}Node${this.near(group)}${when}{${this.node(0)}}`;
  }

  private group(): string {
    const type = this.rare() ? this.pick(["first", '"merge"', "null"]) : this.pick(["merge", "closest"]);
    const force = this.rare() ? this.pick(['"x"', "null"]) : this.value("Float", this.pick(["0.5", "1", "0"]));
    return this.pick([
      `{type: ${type}, force: ${force}}`,
      `{force: ${force} type: ${type}}`,
      ...(this.rare() ? ["{force: 1}", "null"] : []),
    ]);
  }

  private near(args: string[]): string {
    if (this.random.next() < 0.5)
      args.push(
        `limit: ${this.value("Int", this.pick(["0", "1", "2", "3", "-1", "-2", ...(this.rare() ? ['"1"'] : [])]))}`,
      );
    if (this.random.next() < 0.2) args.push(`offset: ${this.value("Int", this.pick(["0", "1", "5"]))}`);
    if (this.random.next() < 0.4) {
      const vector = this.value("[Float]!", this.pick(["[1]", "[1, 2]", "[0.5,-3]", "[]", "[1e39, 2]"]));
      args.push(
        `nearVector: {vector: ${vector}${this.random.next() < 0.3 ? `, certainty: ${this.value("Float", "0.5")}` : ""}}`,
      );
    }
    if (this.random.next() < 0.1) args.push(`nearObject: {id: ${this.value("String", '"x"')}}`);
    return args.length === 0 ? "" : `(${args.join(", ")})`;
  }

  /** Fields of a node, which may lead to others. */
  private node(depth: number): string {
    return this.list(3, () => {
      const dice = this.random.next();
      if (dice < 0.2 && depth < 3) return `${this.alias("p")}next{${this.targets(["Node"], depth)}}`;
      if (dice < 0.5 && depth < 3) return `${this.alias("p")}any{${this.targets(["Node", "Leaf"], depth)}}`;
      if (dice < 0.6)
        return `_additional{${this.list(2, () => this.leafField(this.pick(["id", "certainty", "vector", "__typename"])))}}`;
      if (dice < 0.65) return this.spread("Node", this.node(depth + 1));
      return this.leafField(this.pick(["name", "rank", "__typename", ...(this.rare() ? ["nothing"] : [])]));
    });
  }

  private leaf(depth: number): string {
    return this.list(2, () =>
      this.random.next() < 0.3 && depth < 3
        ? `up{${this.targets(["Node"], depth)}}`
        : this.pick(["name", "l: name", "_additional{id}", "_additional{certainty}"]),
    );
  }

  /** Fragments on the classes of a reference, some of them more than once, in others, or on the union. */
  private targets(classes: readonly string[], depth: number): string {
    return this.list(3, () => {
      if (this.rare()) return this.pick(["__typename", "... on Beacon{beacon}", "name", "... on Author{name}"]);
      const name = this.pick(classes);
      const fragment = this.spread(name, name === "Node" ? this.node(depth + 1) : this.leaf(depth + 1));
      return this.rare() ? `... {${fragment}}` : fragment;
    });
  }

  private spread(type: string, selection: string): string {
    if (this.random.next() < 0.6) return `... on ${type}${this.directive()}{${selection}}`;
    const name = `f${this.#fragments.length}`;
    this.#fragments.push(` fragment ${name} on ${type}{${selection}}`);
    return `...${name}${this.directive()}`;
  }

  private directive(): string {
    if (this.random.next() < 0.85) return "";
    const condition = this.random.next() < 0.2 ? this.nullable() : this.value("Boolean!", this.pick(["true", "false"]));
    return ` @${this.pick(["skip", "include"])}(if: ${condition})`;
  }

  /** A variable that may be null where null is no condition: its default makes it valid there. */
  private nullable(): string {
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: Boolean = ${this.pick(["true", "false"])}`);
    if (this.random.next() < 0.8) this.#variables[name] = this.pick([null, null, true, false]);
    return `$${name}`;
  }

  private aggregate(): string {
    const args: string[] = [];
    if (this.random.next() < 0.4) args.push(`groupBy: ${this.groupBy()}`);
    if (this.random.next() < 0.3)
      args.push(`limit: ${this.value("Int", this.pick(["0", "1", "2", "-1", ...(this.rare() ? ["1.5"] : [])]))}`);
    const given = args.length === 0 ? "" : `(${args.join(" ")})`;
    const when = this.rare() ? this.directive() : "";
    return `${this.alias("b")}Book${given}${when}{${this.list(4, () => this.aggregated(0))}}`;
  }

  private groupBy(): string {
    if (this.rare()) return this.pick(["null", "[]", "[null]", '["title", null]', "[1]", "5"]);
    const path = this.pick(['"tags"', '["pages"]', '["title"]', '["a", "B", "c"]']);
    if (this.random.next() < 0.3) return this.value(path.startsWith("[") ? "[String]" : "String", path);
    return this.random.next() < 0.2 ? `[${this.value("String", '"pages"')}]` : path;
  }

  private aggregated(depth: number): string {
    const dice = this.random.next();
    if (dice < 0.2) return `${this.alias("m")}meta{count ${this.leafField("count")} __typename}`;
    if (dice < 0.35) return `groupedBy{${this.list(2, () => this.pick(["path", "value", "v: value", "__typename"]))}}`;
    if (dice < 0.4 && depth < 2)
      return this.spread(
        "AggregateBook",
        this.list(2, () => this.aggregated(depth + 1)),
      );
    if (dice < 0.43) return this.pick(["__typename", "place{count}", "writtenBy{type pointingTo __typename}"]);
    const families: Record<string, readonly string[]> = {
      "pages price years ratings": ["count", "sum", "minimum", "maximum", "mean", "median", "mode", "type"],
      "title isbn tags cover": ["count", "type", "topOccurrences"],
      "inPrint flags": ["count", "totalTrue", "totalFalse", "percentageTrue", "percentageFalse", "type"],
      published: ["count", "minimum", "maximum"],
    };
    const [names, fields] = this.pick(Object.entries(families));
    const selection = this.list(3, () => {
      const field = this.pick([...fields, "__typename", ...(this.rare() ? ["sum"] : [])]);
      return field === "topOccurrences" ? `${this.alias("y")}${this.topOccurrences()}` : this.leafField(field);
    });
    return `${this.alias("z")}${this.pick(names.split(" "))}{${selection}}`;
  }

  private topOccurrences(): string {
    const limit =
      this.random.next() < 0.6 ? `(limit: ${this.value("Int", this.pick(["0", "1", "2", "7", "-3", "null"]))})` : "";
    return `topOccurrences${limit}{${this.pick(["value", "occurs value", "o: occurs __typename"])}}`;
  }

  /** A literal, or a variable that holds it. */
  private value(type: string, literal: string): string {
    if (this.random.next() >= 0.25) return literal;
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: ${type}${this.rare() ? ` = ${literal}` : ""}`);
    if (!this.rare()) this.#variables[name] = JSON.parse(literal);
    return `$${name}`;
  }

  /** Often a name that nothing else has; rarely one that others have, too. */
  private alias(prefix: string): string {
    if (this.rare()) return `${prefix}0: `;
    return this.random.next() < 0.6 ? `${prefix}${++this.#aliases}: ` : "";
  }

  /** A field without arguments: the same name for the same field. */
  private leafField(field: string): string {
    const when = this.rare() ? this.directive() : "";
    return `${this.random.next() < 0.2 ? `${field}${this.random.below(2)}: ` : ""}${field}${when}`;
  }

  private list(most: number, make: () => string): string {
    return Array.from({ length: 1 + this.random.below(most) }, make).join(" ");
  }

  private rare(): boolean {
    return this.random.next() < 0.04;
  }

  private pick<T>(items: readonly T[]): T {
    return this.random.pick(items);
  }
}

it(`answers references, group, Aggregate and Explore as graphql-js does (seed ${SEED})`, async () => {
  const generator = new CallGenerator(seededRandom(SEED));
  const objects = { ...LIBRARY_OBJECTS, Node: NODES, Leaf: LEAVES };
  const both = new BothWays(new LibraryView([...LIBRARY_CLASSES, NODE, LEAF]), () => new LibraryQuery(objects));
  const others = ["2", "1.5", '\\"x\\"', "null", "true", "[2]"];
  for (let i = 0; i < REQUESTS; i++) {
    const body = generator.body();
    // Again with a plan; with other numbers of the same shape; with a literal of another kind.
    const changed = body.replace(/\b[1-9]\b(?![.\d])/g, (digit) => String((Number(digit) % 9) + 1));
    const otherKind = body.replace(/(?<=[:[] ?)-?\d[\d.]*\b/, others[i % others.length] ?? "");
    for (const [turn, sent] of [body, body, changed, otherKind].entries()) {
      await both.compare(Buffer.from(sent), `seed ${SEED}, request ${i}, turn ${turn}: ${sent}`);
    }
  }
  // The generator does what it is for.
  expect(both.seen.prepared).toBeGreaterThan(REQUESTS);
  expect(both.seen.failed).toBeGreaterThan(REQUESTS / 10);
  expect(both.seen.refused).toBeGreaterThan(REQUESTS / 10);
});
