import type { SeededRandom } from "@shoal/seeded-random";
import {
  type GrammarField,
  type GrammarType,
  type GraphqlGrammar,
  innermost,
  isRequired,
  type TypeReference,
} from "./graphql-grammar.js";
import { type GraphqlValues, literalOf, variableOf } from "./graphql-values.js";

export interface MadeQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** What is in it: `Get`, `where`, `near`, … */
  readonly parts: ReadonlySet<string>;
}

/** Of what each query kind has, at least one must have been answered without an error. */
export const QUERY_PARTS = [
  ...["Get", "Aggregate", "Explore", "where", "near", "group", "groupBy", "references", "fragments", "variables"],
];

const DEPTH_MAX = 8;
const ROOT = "WeaviateObj";

/** Makes queries that the schema of the server allows. */
export class GraphqlQueries {
  readonly #parts = new Set<string>();
  readonly #fragments: string[] = [];
  readonly #variables = new Map<string, { readonly type: string; readonly value: unknown }>();

  constructor(
    readonly grammar: GraphqlGrammar,
    readonly values: GraphqlValues,
    readonly chance: SeededRandom,
  ) {}

  make(): MadeQuery {
    this.#parts.clear();
    this.#fragments.length = 0;
    this.#variables.clear();
    const root = this.grammar.type(ROOT);
    const body = root === undefined ? "{__typename}" : this.#selection(root, "", 0);
    const declared = [...this.#variables].map(([name, { type }]) => `$${name}: ${type}`);
    const head =
      declared.length > 0 ? `query q(${declared.join(", ")}) ` : this.chance.pick(["", "", "query ", "query q "]);
    const variables = [...this.#variables].map(([name, { value }]) => [name, variableOf(value)] as const);
    return {
      query: [head + body, ...this.#fragments].join(" "),
      variables: variables.length === 0 ? undefined : Object.fromEntries(variables),
      parts: new Set(this.#parts),
    };
  }

  #selection(type: GrammarType, className: string, depth: number): string {
    const { chance } = this;
    if (type.kind === "UNION") return this.#fragmentsOn(type, depth);
    const fields = type.fields ?? [];
    const simple = fields.filter((field) => isLeaf(field.type));
    const candidates = depth > DEPTH_MAX ? simple : fields;
    const isRoot = depth < 2;
    const count = isRoot ? 1 + Number(chance.oneIn(4)) : 1 + chance.below(5);
    const chosen = candidates.length === 0 ? [] : Array.from({ length: count }, () => chance.pick(candidates));
    const texts = [...new Set(chosen)].map((field) => this.#field(field, type.name, className, depth));
    if (texts.length === 0 || chance.oneIn(12)) texts.push("__typename");
    const inner = texts.join(" ");
    if (depth < 2 || !chance.oneIn(6)) return `{${inner}}`;
    this.#parts.add("fragments");
    return chance.oneIn(2) ? `{... on ${type.name} {${inner}}}` : `{...${this.#named(type.name, inner)}}`;
  }

  #fragmentsOn(type: GrammarType, depth: number): string {
    this.#parts.add("references");
    const members = (type.possibleTypes ?? []).filter(({ name }) => name !== "Beacon" || this.chance.oneIn(20));
    const chosen = members.filter(() => !this.chance.oneIn(3));
    const texts = (chosen.length === 0 ? members.slice(0, 1) : chosen).map(({ name }) => {
      const member = this.grammar.type(name);
      const inner =
        member === undefined || depth > DEPTH_MAX ? "{__typename}" : this.#selection(member, name, depth + 1);
      if (!this.chance.oneIn(4)) return `... on ${name} ${inner}`;
      return `...${this.#named(name, inner.slice(1, -1))}`;
    });
    return `{${texts.length === 0 ? "__typename" : texts.join(" ")}}`;
  }

  #named(typeName: string, inner: string): string {
    this.#parts.add("fragments");
    const name = `f${this.#fragments.length}`;
    this.#fragments.push(`fragment ${name} on ${typeName} {${inner}}`);
    return name;
  }

  #field(field: GrammarField, parent: string, holder: string, depth: number): string {
    const { chance } = this;
    const className = depth === 1 && /^(Get|Aggregate)ObjectsObj$/.test(parent) ? field.name : holder;
    if (depth === 0) this.#parts.add(field.name);
    // Two fields of one name with other arguments would not merge.
    const alias = depth < 2 || chance.oneIn(10) ? `a${chance.below(1_000_000)}: ` : "";
    const given = this.#arguments(field, className);
    const directive = chance.oneIn(25) ? this.#directive() : "";
    const type = this.grammar.type(innermost(field.type).name ?? "");
    const inner = type === undefined || isLeaf(field.type) ? "" : ` ${this.#selection(type, className, depth + 1)}`;
    return `${alias}${field.name}${given}${directive}${inner}`;
  }

  #directive(): string {
    const { chance } = this;
    const name = chance.pick(["include", "skip"]);
    if (chance.oneIn(2)) return ` @${name}(if: ${chance.oneIn(2)})`;
    this.#parts.add("variables");
    const variable = `v${this.#variables.size}`;
    // Valid for the sake of its default, also when null is given, which is no condition.
    const value = chance.pick([null, true, false]);
    this.#variables.set(variable, { type: `Boolean = ${chance.oneIn(2)}`, value });
    return ` @${name}(if: $${variable})`;
  }

  #arguments({ name: fieldName, args, type: fieldType }: GrammarField, className: string): string {
    const { chance } = this;
    const isExplore = fieldName === "Explore";
    const near = args.filter(({ name }) => name.startsWith("near"));
    const chosenNear = near.length > 0 && (isExplore || chance.oneIn(3)) ? chance.pick(near) : undefined;
    const given = args.filter((one) => {
      if (one.name.startsWith("near") && !chance.oneIn(40)) return one === chosenNear;
      return isRequired(one.type) || chance.oneIn(one.name === "where" ? 2 : 4);
    });
    if (given.length === 0) return "";
    const texts = given.map(({ name, type }) => {
      this.#parts.add(name.startsWith("near") ? "near" : name);
      const value = this.values.of(type, name, className);
      if (!chance.oneIn(8) || fieldType.kind === "SCALAR") return `${name}: ${literalOf(value)}`;
      this.#parts.add("variables");
      const variable = `v${this.#variables.size}`;
      this.#variables.set(variable, { type: typeText(type), value });
      return `${name}: $${variable}`;
    });
    return `(${texts.join(", ")})`;
  }
}

function isLeaf(type: TypeReference): boolean {
  const { kind } = innermost(type);
  return kind === "SCALAR" || kind === "ENUM";
}

function typeText(type: TypeReference): string {
  if (type.ofType === null || type.ofType === undefined) return type.name ?? "String";
  return type.kind === "NON_NULL" ? `${typeText(type.ofType)}!` : `[${typeText(type.ofType)}]`;
}
