import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests on one connection that may wait behind others of it. More are what floods are made of. */
export const PIPELINED_MAX = 64;

/** Requests that were sent without waiting for the answers before theirs; node:http hands them over all at once. */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /**
   * False when too many wait on that connection, which must be cut then: node:http would go on reading requests from it.
   * When it breaks, the answers that wait are closed: node:http tells only the first one, and the others would be in
   * flight for ever.
   */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    // Only the first answer of a pipeline has the connection.
    if (response.socket !== null) return true;
    const waiting = this.#waitingOn(request.socket);
    if (waiting.size >= PIPELINED_MAX || request.socket.destroyed) return false;
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
    return true;
  }

  #waitingOn(socket: Socket): Set<ServerResponse> {
    const known = this.#waiting.get(socket);
    if (known !== undefined) return known;
    const waiting = new Set<ServerResponse>();
    this.#waiting.set(socket, waiting);
    socket.once("close", () => {
      for (const response of waiting) {
        response.destroy();
        response.emit("close");
      }
    });
    return waiting;
  }
}
