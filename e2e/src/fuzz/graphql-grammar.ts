import { at, type HttpClient } from "../http-client.js";

/** A type as introspection tells it; lists and non-nulls hold another one. */
export interface TypeReference {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeReference | null;
}

export interface GrammarInput {
  readonly name: string;
  readonly type: TypeReference;
}

export interface GrammarField extends GrammarInput {
  readonly args: readonly GrammarInput[];
}

export interface GrammarType {
  readonly kind: string;
  readonly name: string;
  readonly fields: readonly GrammarField[] | null;
  readonly inputFields: readonly GrammarInput[] | null;
  readonly enumValues: readonly { readonly name: string }[] | null;
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

const TYPE = "kind name ofType{kind name ofType{kind name ofType{kind name}}}";
const INTROSPECTION = `{__schema{types{kind name fields{name args{name type{${TYPE}}} type{${TYPE}}} inputFields{name type{${TYPE}}} enumValues{name} possibleTypes{name}}}}`;

/** What can be asked right now: the types that the server tells of itself. */
export class GraphqlGrammar {
  #types: ReadonlyMap<string, GrammarType> = new Map();

  /** Classes come and go. */
  async refresh(http: HttpClient): Promise<void> {
    const answer = await http.graphql(INTROSPECTION);
    const types = at(answer.json, "data", "__schema", "types");
    if (Array.isArray(types)) this.#types = new Map((types as GrammarType[]).map((type) => [type.name, type]));
  }

  type(name: string): GrammarType | undefined {
    return this.#types.get(name);
  }

  get names(): readonly string[] {
    return [...this.#types.keys()];
  }
}

/** The type below lists and non-nulls. */
export function innermost(type: TypeReference): TypeReference {
  return type.ofType === null || type.ofType === undefined ? type : innermost(type.ofType);
}

export function isRequired(type: TypeReference): boolean {
  return type.kind === "NON_NULL";
}

export function isList(type: TypeReference): boolean {
  return type.kind === "LIST" || (isRequired(type) && type.ofType !== null && isList(type.ofType));
}
