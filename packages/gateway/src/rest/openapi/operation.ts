import type * as z from "zod";
import type { Method } from "../../http/route.js";

export const TAGS = {
  objects: "Data objects: one by one.",
  references: "Cross-references between objects.",
  batch: "Many at once. Items are independent of each other; the answer has one result an item.",
  schema: "Classes and their properties.",
  classifications: "Jobs that predict cross-references.",
  graphql: "Queries.",
  modules: "What modules offer beside queries.",
  access:
    "Roles, who has them, and users with API keys. With `AUTHORIZATION_RBAC_ENABLED` and `AUTHENTICATION_DB_USERS_ENABLED`.",
  instance: "What the instance says of itself.",
} as const;

export type Tag = keyof typeof TAGS;

/** A response that an operation gives. Without a schema it has no body; errors have the one error body, unless they are empty. */
export interface DescribedResponse {
  readonly description: string;
  /** An error without a body. */
  readonly isEmpty?: boolean;
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
}

/** A request body: its schema, and examples by name, the first of which can be sent as it is to a new instance. */
export interface DescribedBody {
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
}

/**
 * What the OpenAPI document says of one route beside what follows from the route itself: parameters of its path, and the
 * responses to requests that do not get as far as the operation (`commonResponses` in `document.ts`).
 */
export interface Operation {
  readonly method: Method;
  /** As in the route table. */
  readonly path: string;
  /** Unique, for code generators. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Query parameters. */
  readonly query?: z.ZodObject;
  readonly body?: DescribedBody;
  /** By status: what is particular to this operation. */
  readonly responses: Readonly<Record<number, DescribedResponse>>;
}

/** An operation by its route, tag, id and summary. */
export function operation(
  method: Method,
  path: string,
  tag: Tag,
  id: string,
  summary: string,
  more: Pick<Operation, "description" | "query" | "body" | "responses">,
): Operation {
  return { method, path, id, tag, summary, ...more };
}
