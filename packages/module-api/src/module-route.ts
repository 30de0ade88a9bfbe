import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type * as z from "zod";

export interface ModuleRequest {
  /** Decoded path parameters, in the order of the template. */
  readonly params: readonly string[];
  readonly body: Buffer;
  readonly context: RequestContext;
}

/** Without `json` or `text` the response has no body. What a handler throws becomes an error as everywhere. */
export interface ModuleResponse {
  readonly status: number;
  readonly json?: Json;
  readonly text?: string;
}

/** What the OpenAPI document says of a route. */
export interface ModuleOperation {
  /** Unique among all operations. */
  readonly id: string;
  readonly summary: string;
  readonly body?: { readonly schema: z.ZodType; readonly examples: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<number, { readonly description: string; readonly schema?: z.ZodType }>>;
}

/** A route below `/v1/modules/<name>/`, behind authentication as all others. */
export interface ModuleRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Segments, without a slash in front; `{parameter}` takes any. */
  readonly path: string;
  /** What whoever uses it must be allowed to do with `modules/<name>`. */
  readonly verb: "get" | "create" | "update" | "delete";
  readonly operation: ModuleOperation;
  readonly handle: (request: ModuleRequest) => Promise<ModuleResponse>;
}

/** A route of the internal port, for the operator's own machines: the same path, without authentication. */
export interface InternalModuleRoute {
  readonly methods: readonly ("GET" | "PUT")[];
  /** Below `/v1/modules/<name>/`; one that ends in a slash is also that of everything below it. */
  readonly path: string;
  /** `rest`: what follows a path that ends in a slash, decoded. */
  readonly handle: (
    method: "GET" | "PUT",
    rest: string,
    body: Buffer,
    context: RequestContext,
  ) => Promise<ModuleResponse>;
}
