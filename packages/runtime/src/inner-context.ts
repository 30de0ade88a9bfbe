import type { ClassRights } from "@shoal/model";
import type { LateSignal } from "./late-signal.js";
import type { RequestContext, RequestObserver, RowBytes, Share } from "./request-context.js";

/** What a part of a request has of its own. */
export interface OwnContext {
  readonly deadline?: number;
  readonly rowBytes?: RowBytes;
  readonly waitMsMax?: number;
  readonly late?: LateSignal;
}

/**
 * The context of a part of a request. What is not its own it has from that of the whole; name, signal and share, which are made
 * when somebody asks, when it is asked itself.
 *
 * A class, because a literal with `get signal()` has a hidden class of its own each time, in V8's old generation; what
 * the getter refers to, which is all of the request, lives until the next full collection.
 */
export class InnerContext implements RequestContext {
  readonly deadline: number;
  readonly rowBytes: RowBytes | undefined;
  readonly waitMsMax: number | undefined;
  readonly #outer: RequestContext;
  readonly #late: LateSignal | undefined;

  /** `late` must follow the signal of `outer`. */
  constructor(outer: RequestContext, own: OwnContext) {
    this.deadline = own.deadline ?? outer.deadline;
    this.rowBytes = own.rowBytes ?? outer.rowBytes;
    this.waitMsMax = own.waitMsMax ?? outer.waitMsMax;
    this.#outer = outer;
    this.#late = own.late;
  }

  get requestId(): string | undefined {
    return this.#outer.requestId;
  }

  get readsPrimary(): boolean | undefined {
    return this.#outer.readsPrimary;
  }

  get observer(): RequestObserver | undefined {
    return this.#outer.observer;
  }

  get share(): Share | undefined {
    return this.#outer.share;
  }

  get rights(): ClassRights | undefined {
    return this.#outer.rights;
  }

  get signal(): AbortSignal | undefined {
    return this.#late === undefined ? this.#outer.signal : this.#late.signal;
  }
}
