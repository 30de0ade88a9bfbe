import type { ServerResponse } from "node:http";
import type { RequestContext } from "@shoal/rpc";

/** The context of one HTTP request. Its signal fires when the client goes away; it is only made when somebody asks. */
export class RequestScope implements RequestContext {
  readonly deadline: number;
  readonly #response: ServerResponse;
  #gone: AbortController | undefined;

  constructor(deadline: number, response: ServerResponse) {
    this.deadline = deadline;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#gone !== undefined) return this.#gone.signal;
    const gone = new AbortController();
    this.#gone = gone;
    const response = this.#response;
    const onClose = (): void => {
      if (!response.writableFinished) gone.abort();
    };
    if (response.destroyed) onClose();
    else response.once("close", onClose);
    return gone.signal;
  }
}
