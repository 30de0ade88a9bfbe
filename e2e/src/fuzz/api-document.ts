import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { at } from "../http-client.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** One operation as the served document describes it. */
export interface ApiOperation {
  readonly name: string;
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly schema: JsonSchema }[];
  readonly body: JsonSchema | undefined;
  readonly examples: readonly unknown[];
  readonly statuses: ReadonlySet<number>;
  /** By status; undefined where the answer has no body. */
  readonly answers: ReadonlyMap<number, ValidateFunction | undefined>;
  /** Statuses that are answered without a body, by verb: of all operations with this path, as a verb may get broken. */
  readonly emptyStatuses: ReadonlyMap<string, ReadonlySet<number>>;
}

/** The document that the server under test serves: what can be asked, and how it may answer. */
export class ApiDocument {
  readonly operations: readonly ApiOperation[];
  readonly #schemas: Readonly<Record<string, JsonSchema>>;

  constructor(document: unknown) {
    this.#schemas = at(document, "components", "schemas") as Readonly<Record<string, JsonSchema>>;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "document", components: { schemas: this.#schemas } });
    const compiled = (schema: JsonSchema): ValidateFunction =>
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')));
    const paths = at(document, "paths") as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    this.operations = Object.entries(paths).flatMap(([path, item]) => {
      const verbs = Object.entries(item).map(([verb, one]) => operationOf(verb.toUpperCase(), path, one, compiled));
      const emptyStatuses = new Map(verbs.map(({ method, answers }) => [method, emptyOf(answers)]));
      return verbs.map((operation) => ({ ...operation, emptyStatuses }));
    });
    if (this.operations.length < 10) throw new Error("the served document has no operations");
  }

  /** The schema itself, where it is only referred to. */
  resolved(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== "string") return schema;
    const known = this.#schemas[$ref.slice($ref.lastIndexOf("/") + 1)];
    if (known === undefined) throw new Error(`the document has no ${$ref}`);
    return known;
  }
}

function emptyOf(answers: ApiOperation["answers"]): ReadonlySet<number> {
  return new Set([...answers].filter(([, validate]) => validate === undefined).map(([status]) => status));
}

function operationOf(
  method: string,
  path: string,
  described: unknown,
  compiled: (schema: JsonSchema) => ValidateFunction,
): Omit<ApiOperation, "emptyStatuses"> {
  const parameters = (at(described, "parameters") ?? []) as readonly { in: string; name: string; schema: JsonSchema }[];
  const content = at(described, "requestBody", "content", "application/json");
  const responses = Object.entries(at(described, "responses") as object);
  const answers = responses.map(([status, response]) => {
    const schema = at(response, "content", "application/json", "schema") as JsonSchema | undefined;
    return [Number(status), schema && compiled(schema)] as const;
  });
  const examples = Object.values((at(content, "examples") ?? {}) as object);
  return {
    name: String(at(described, "operationId")),
    method,
    path,
    query: parameters.filter((parameter) => parameter.in === "query"),
    body: at(content, "schema") as JsonSchema | undefined,
    examples: examples.map((example) => at(example, "value")),
    statuses: new Set(responses.map(([status]) => Number(status))),
    answers: new Map(answers),
  };
}
