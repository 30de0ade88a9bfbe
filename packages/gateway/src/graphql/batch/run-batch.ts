import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";
import type { AnswerBudget, HeldAnswer } from "../../answer-budget.js";
import { type GraphQlAnswer, refusedAnswer } from "../answer.js";
import type { GraphQlLimits } from "../limits.js";
import { batchItems } from "./batch-items.js";

/** What POST /v1/graphql/batch answers. */
export interface GraphQlBatchAnswer {
  readonly status: number;
  /** In this order, without anything between them. */
  readonly chunks: readonly Buffer[];
}

export interface BatchParts {
  /** Answers one request; see GraphQlHandler. */
  readonly execute: (body: Buffer, context: RequestContext) => Promise<GraphQlAnswer>;
  readonly answers: AnswerBudget;
  readonly limits: Pick<GraphQlLimits, "graphqlBatchRequestsMax" | "graphqlBatchConcurrencyMax">;
}

/** The text of the reference for an item that is no query (reference-graphql 1.2). */
const NO_QUERY = "422: The request is well-formed but was unable to be followed due to semantic errors.";

/**
 * Answers the requests of a batch, some of them at the same time; the answers are in the order of the requests. An item
 * that is refused has its reason in its own slot. Fails as a body does that is no batch, with `overloaded` as a single
 * request does, and when something of ours is broken.
 */
export async function runBatch(
  body: Buffer,
  { execute, answers, limits }: BatchParts,
  context: RequestContext,
): Promise<GraphQlBatchAnswer> {
  const items = batchItems(body, limits.graphqlBatchRequestsMax);
  if (items.length === 0) throw new ShoalError("invalid", "the batch has no queries");
  const slots: Buffer[] = [];
  const held = answers.begin();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const slot = next++;
      const answer = await execute(items[slot] as Buffer, context);
      slots[slot] = written(answer, held);
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

/** The answer of an item without its newline. One that does not fit beside the others says so instead. */
function written(answer: GraphQlAnswer, held: HeldAnswer): Buffer {
  const bytes = bytesOf(answer.status === 200 ? answer : refused(answer));
  try {
    held.addText(bytes.length);
    return bytes;
  } catch (thrown) {
    if (!(thrown instanceof ShoalError) || thrown.code !== "tooLarge") throw thrown;
    return bytesOf(refusedAnswer([{ locations: [], message: thrown.message, path: null }]));
  }
}

/** A body that is no request at all makes the whole batch malformed. */
function refused({ status, body }: GraphQlAnswer): GraphQlAnswer {
  const { error } = JSON.parse(body.toString()) as { readonly error: readonly [{ readonly message: string }] };
  const [{ message }] = error;
  if (status === 400) throw new ShoalError("malformed", message);
  return refusedAnswer([
    { locations: [], message: message === "query cannot be empty" ? NO_QUERY : message, path: null },
  ]);
}

function bytesOf({ body }: GraphQlAnswer): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return bytes.subarray(0, bytes.length - 1);
}
