import { ShoalError } from "@shoal/model";
import { eventLoop, type RequestContext } from "@shoal/runtime";
import type { HeldResponse, ResponseBudget } from "../../response-budget.js";
import { type GraphQlResponse, refusedResponse, tooLargeResponse } from "../graphql-response.js";
import type { GraphQlLimits } from "../limits.js";
import { batchItems } from "./batch-items.js";

/** What POST /v1/graphql/batch answers. */
export interface GraphQlBatchResponse {
  readonly status: number;
  /** In this order, without anything between them. */
  readonly chunks: readonly Buffer[];
}

export interface BatchParts {
  /** Answers one request; see GraphQlHandler. */
  readonly execute: (body: Buffer) => Promise<GraphQlResponse>;
  readonly responses: ResponseBudget;
  /** Called with everything that an item fails with and that is no ShoalError. */
  readonly onFault: (thrown: unknown, context: RequestContext) => void;
  readonly limits: Pick<GraphQlLimits, "graphqlBatchRequestsMax" | "graphqlBatchConcurrencyMax">;
}

/** What the reference answers an item with that is no query, where `locations` is null (reference-rest 2.10). */
const NO_QUERY = "422: The request is well-formed but was unable to be followed due to semantic errors.";

/**
 * Answers the requests of a batch, some of them at the same time; the responses are in the order of the requests. An item
 * that is refused has its reason in its own slot, and so has one on which something of ours breaks. Fails as a body does
 * that is no batch, and as a single request does whose time or memory is used up.
 */
export async function runBatch(
  body: Buffer,
  { execute, responses, limits, onFault }: BatchParts,
  context: RequestContext,
): Promise<GraphQlBatchResponse> {
  const items = batchItems(body, limits.graphqlBatchRequestsMax);
  if (items.length === 0) throw new ShoalError("invalid", "the batch has no queries");
  const slots: Buffer[] = [];
  const held = responses.begin(context);
  let next = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      await eventLoop.room(context.share);
      const slot = next++;
      if (slot >= items.length) return;
      const response = await execute(items[slot] as Buffer).catch((thrown: unknown) => {
        context.signal?.throwIfAborted();
        if (thrown instanceof ShoalError && thrown.code !== "internal") throw thrown;
        onFault(thrown, context);
        return refusedResponse([{ locations: [], message: "internal server error", path: null }]);
      });
      slots[slot] = written(response, held);
    }
  };
  try {
    const workers = Math.min(limits.graphqlBatchConcurrencyMax, items.length);
    await Promise.all(Array.from({ length: workers }, work));
  } catch (thrown) {
    // The other workers begin nothing any more.
    next = items.length;
    throw thrown;
  } finally {
    held.end();
  }
  return { status: 200, chunks: slots.flatMap((slot, i) => [i === 0 ? OPEN : COMMA, slot]).concat(CLOSE) };
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]\n");

/** The response of an item without its newline. One that does not fit beside the others says so instead. */
function written(response: GraphQlResponse, held: HeldResponse): Buffer {
  const bytes = bytesOf(response.status === 200 ? response : refused(response));
  try {
    held.addText(bytes.length);
    return bytes;
  } catch (thrown) {
    return bytesOf(tooLargeResponse(thrown));
  }
}

/** A body that is no request at all makes the whole batch malformed. */
function refused({ status, body }: GraphQlResponse): GraphQlResponse {
  const { error } = JSON.parse(body.toString()) as { readonly error: readonly [{ readonly message: string }] };
  const [{ message }] = error;
  if (status === 400) throw new ShoalError("malformed", message);
  if (message !== "query cannot be empty") return refusedResponse([{ locations: [], message, path: null }]);
  return refusedResponse([{ locations: null, message: NO_QUERY, path: null }]);
}

function bytesOf({ body }: GraphQlResponse): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return bytes.subarray(0, bytes.length - 1);
}
