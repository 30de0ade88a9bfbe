import { ShoalError, type WireProfile } from "@shoal/model";
import type { GraphQLFormattedError } from "graphql";

/** The parts of the wire profile that GraphQL answers hang on. */
export type GraphQlWire = Pick<WireProfile, "graphqlErrorsNullWhenNone" | "graphqlSyntaxErrorText" | "beaconScheme">;

/** What POST /v1/graphql answers. `body` is JSON with one newline at its end (reference-rest 1.2). */
export interface GraphQlResponse {
  readonly status: number;
  readonly body: string | Buffer;
}

/** One entry of `errors`, its members in the order in which they are sent. */
export interface ErrorItem {
  readonly locations: readonly { readonly column: number; readonly line: number }[] | null;
  readonly message: string;
  readonly path: readonly string[] | null;
}

/** An error of graphql-js as it is sent: no extensions, list indices in the path as text. */
export function errorItem(error: {
  readonly message: string;
  readonly locations?: GraphQLFormattedError["locations"] | undefined;
  readonly path?: GraphQLFormattedError["path"] | undefined;
}): ErrorItem {
  return {
    locations: (error.locations ?? []).map(({ column, line }) => ({ column, line })),
    message: error.message,
    path: error.path === undefined ? null : error.path.map(String),
  };
}

/** What a client reads of something that was thrown: a fault of ours keeps its text to itself. */
export function failureMessage(thrown: unknown): string {
  return thrown instanceof ShoalError ? thrown.message : "internal server error";
}

/** A request that was refused before anything was executed: `data` is absent. */
export function refusedResponse(errors: readonly ErrorItem[]): GraphQlResponse {
  return { status: 200, body: `${JSON.stringify({ errors })}\n` };
}

/** A request that ran into a limit: with its message when it is too large, thrown again for whatever else it is. */
export function tooLargeResponse(thrown: unknown): GraphQlResponse {
  if (!(thrown instanceof ShoalError) || thrown.code !== "tooLarge") throw thrown;
  return refusedResponse([{ locations: [], message: thrown.message, path: null }]);
}

/** What follows `{"data":…`: the closing brace and the newline included. */
export function errorsTail(errors: readonly ErrorItem[], wire: GraphQlWire): string {
  if (errors.length > 0) return `,"errors":${JSON.stringify(inOrderOfText(errors))}}\n`;
  return wire.graphqlErrorsNullWhenNone ? ',"errors":null}\n' : "}\n";
}

/** A request that is no GraphQL request. */
export function httpError(status: number, message: string): GraphQlResponse {
  return { status, body: `${JSON.stringify({ error: [{ message }] })}\n` };
}

/** Fields are executed at the same time, so the order in which they fail says nothing. Stable. */
function inOrderOfText(errors: readonly ErrorItem[]): readonly ErrorItem[] {
  return [...errors].sort((a, b) => {
    const [left, right] = [a.locations?.[0], b.locations?.[0]];
    if (left === undefined || right === undefined) return 0;
    return left.line - right.line || left.column - right.column;
  });
}
