import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Requests on one connection that may wait behind others of it. More are what floods are made of. Of the body of a request
 * that waits, node:http holds what one read of the connection brings; then it stops reading.
 */
export const PIPELINED_MAX = 64;

/** Requests behind a refused one that are left alone before the connection is cut: node:http goes on reading them. */
export const IGNORED_MAX = 1_000;

/**
 * What becomes of a request. `taken`: it is its turn. `waits`: for the answers before its own, see {@link whenAnswering}.
 * `refused`: too many wait; it gets the last answer of its connection. `ignored`: it came after that one and is not looked
 * at; closing the connection tells the client so. `cut`: even those are too many.
 */
export type PipelineAdmission = "taken" | "waits" | "refused" | "ignored" | "cut";

/**
 * Calls `work` when the answers before this one are complete, so that requests of one connection take effect in the order in
 * which they were sent. Never when the connection breaks before.
 */
export function whenAnswering(response: ServerResponse, work: () => void): void {
  // An answer gets the connection when the one before it has been handed over. It is in the middle of that here.
  response.once("socket", () =>
    process.nextTick(() => {
      if (!response.destroyed) work();
    }),
  );
}

interface Pipeline {
  readonly waiting: Set<ServerResponse>;
  /** Requests after the refused one; undefined while none was refused. */
  ignored: number | undefined;
}

/** Requests that were sent without waiting for the answers before theirs; node:http hands them over all at once. */
export class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();

  /**
   * When the connection breaks, the answers that wait are closed: node:http tells only the first one, and the others would
   * be in flight for ever.
   */
  admit(request: IncomingMessage, response: ServerResponse): PipelineAdmission {
    // Only the first answer of a pipeline has the connection.
    if (response.socket !== null) return "taken";
    if (request.socket.destroyed) return "ignored";
    const pipeline = this.#pipelineOf(request.socket);
    if (pipeline.ignored !== undefined) return ++pipeline.ignored > IGNORED_MAX ? "cut" : "ignored";
    const { waiting } = pipeline;
    const isFull = waiting.size >= PIPELINED_MAX;
    if (isFull) pipeline.ignored = 0;
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
    return isFull ? "refused" : "waits";
  }

  #pipelineOf(socket: Socket): Pipeline {
    const known = this.#pipelines.get(socket);
    if (known !== undefined) return known;
    const pipeline: Pipeline = { waiting: new Set(), ignored: undefined };
    this.#pipelines.set(socket, pipeline);
    socket.once("close", () => {
      for (const response of pipeline.waiting) {
        response.destroy();
        response.emit("close");
      }
    });
    return pipeline;
  }
}
