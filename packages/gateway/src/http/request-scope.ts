import { setMaxListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { type ClassRights, ShoalError } from "@shoal/model";
import type { RequestContext, RequestWitness, Share } from "@shoal/runtime";
import type { RequestIds } from "./request-ids.js";

/** A time-out, and how its setting is called. */
export interface TimeLimit {
  readonly seconds: number;
  readonly variable: "REQUEST_TIMEOUT_SECONDS" | "BATCH_TIMEOUT_SECONDS";
}

/**
 * The context of one HTTP request. Its signal fires when the client goes away or the time is up; it is only made when
 * somebody asks.
 */
export class RequestScope implements RequestContext {
  readonly deadline: number;
  readonly witness: RequestWitness | undefined;
  /** When it is overdue, by the clock of {@link Deadlines}. */
  readonly dueMs: number;
  readonly rights: ClassRights | undefined;
  /** Among the requests in flight, by {@link Deadlines}; 0 before and after. */
  number = 0;
  readonly #limit: TimeLimit;
  readonly #response: ServerResponse;
  readonly #ids: RequestIds;
  readonly #client: { readonly share: Share };
  readonly #onExpired: (error: ShoalError) => void;
  #gone: AbortController | undefined;
  #expired: ShoalError | undefined;

  /** `onExpired` answers the request when its time is up. `rights`: see RequestContext. */
  constructor(
    startMs: { readonly clock: number; readonly monotonic: number },
    limit: TimeLimit,
    response: ServerResponse,
    ids: RequestIds,
    client: { readonly share: Share },
    onExpired: (error: ShoalError) => void,
    { audited, rights }: { readonly audited?: RequestWitness | undefined; readonly rights?: ClassRights | undefined },
  ) {
    this.rights = rights;
    this.deadline = startMs.clock + limit.seconds * 1000;
    this.dueMs = startMs.monotonic + limit.seconds * 1000;
    this.#limit = limit;
    this.#response = response;
    this.#ids = ids;
    this.#client = client;
    this.#onExpired = onExpired;
    this.witness = audited;
  }

  get signal(): AbortSignal {
    if (this.#gone !== undefined) return this.#gone.signal;
    const gone = new AbortController();
    this.#gone = gone;
    // Each field of a request that waits listens: any number is no leak.
    setMaxListeners(0, gone.signal);
    const response = this.#response;
    const onClose = (): void => {
      if (!response.writableFinished) gone.abort(new ShoalError("unavailable", "the client has gone"));
    };
    if (this.#expired !== undefined) gone.abort(this.#expired);
    else if (response.destroyed) onClose();
    else response.once("close", onClose);
    return gone.signal;
  }

  get share(): Share {
    return this.#client.share;
  }

  get requestId(): string {
    return this.#ids.of(this.#response.req);
  }

  /** The request has been answered because its time was up; what comes of it now is nobody's. */
  get isExpired(): boolean {
    return this.#expired !== undefined;
  }

  /** Answers the request, and tells whoever works on it. */
  expire(): void {
    if (this.#expired !== undefined) return;
    const error = this.timeoutError();
    this.#expired = error;
    this.#onExpired(error);
    this.#gone?.abort(error);
  }

  timeoutError(): ShoalError {
    const { seconds, variable } = this.#limit;
    const kept = variable === "BATCH_TIMEOUT_SECONDS" ? "; what was acknowledged by then is stored" : "";
    const what = variable === "BATCH_TIMEOUT_SECONDS" ? "batch" : "request";
    return new ShoalError("deadlineExceeded", `the ${what} took longer than ${seconds} s (${variable})${kept}`);
  }
}
