import { ShoalError } from "@shoal/model";
import {
  type AnyShardMethod,
  type ConnectionState,
  deliveryOf,
  type NodeCarrier,
  type ShardService,
  shardOf,
  shardServiceBy,
  undelivered,
} from "@shoal/rpc";
import { InnerContext, type RequestContext } from "@shoal/runtime";
import type { HeldRequests } from "./held-requests.js";
import { Waiters } from "./waiters.js";

interface NodeRequest {
  readonly method: AnyShardMethod;
  readonly args: readonly unknown[];
  readonly context: RequestContext;
}

export interface RetryOptions {
  /** How long a request waits for a node that has announced its drain (`SHARD_WAIT_SECONDS`). */
  readonly shardWaitMs: number;
  readonly held: HeldRequests;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** A node that died may be back so soon; requests wait for it no longer than this after it was lost, and for an attempt to reach it. */
const LOST_WAIT_MS = 1_000;

/** A node that has announced its drain and does not come back in so long is counted among the dead. */
const DRAIN_MS_MAX = 300_000;

/** Between two attempts on a connection that seems to be ready. */
const ATTEMPT_PAUSE_MS = 20;

/** Of a request that may have been carried out, so many attempts are made. */
const ATTEMPTS_MAX = 2;

/**
 * One storage node over the connections that it has in its life. A request that it did not answer is repeated when that is
 * safe: while a drain that it announced lasts, and until it is connected again, up to `shardWaitMs`; once within
 * a second when it died. A request that finds it lost has it tried once more: it may just have started. What the node itself answers is never repeated.
 */
export class RetryingNode implements Disposable {
  readonly name: string;
  /** The node as whoever asks sees it. */
  readonly service: ShardService;
  readonly #options: RetryOptions;
  #connection: NodeCarrier | undefined;
  #subscription: Disposable | undefined;
  /** Those that wait for another state. */
  readonly #waiters: Waiters;
  #drainedMs: number | undefined;
  #lostMs: number;

  constructor(name: string, options: RetryOptions) {
    this.name = name;
    this.service = shardServiceBy((method, args, context) => this.#ask({ method, args, context }));
    this.#options = options;
    this.#waiters = new Waiters(options.nowMs);
    this.#lostMs = options.nowMs();
  }

  get state(): ConnectionState {
    return this.#connection?.state ?? "connecting";
  }

  /**
   * Whether the connection was lost and nothing says that the node comes back soon. Not so during a drain that it announced,
   * and not before the first attempt to connect has ended.
   */
  get isLost(): boolean {
    return this.state === "unreachable" && !this.#isDrained;
  }

  /** Goes on with another connection; the former one is closed. */
  connect(connection: NodeCarrier): void {
    this.#subscription?.[Symbol.dispose]();
    this.#connection?.[Symbol.dispose]();
    this.#connection = connection;
    this.#subscription = connection.onState(() => this.#follow());
    this.#follow();
  }

  /** Not `async` where the node is ready, which is nearly always. */
  #ask(request: NodeRequest): Promise<unknown> {
    const connection = this.#connection;
    const { context } = request;
    if (context.waitMsMax !== undefined) return this.#askSoon(request, context.waitMsMax);
    if (connection === undefined || connection.state !== "ready") return this.#await(request, 0, undefined);
    return connection.carry(request.method, request.args, context).catch((thrown: unknown) => {
      if (!isToBeRepeated(request, thrown)) throw this.#explained(request, thrown);
      return this.#await(request, 1, thrown);
    });
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
    this.#waiters.wakeAll();
  }

  #follow(): void {
    const { state } = this;
    const now = this.#options.nowMs();
    if (state === "ready") this.#drainedMs = undefined;
    else if (state === "draining") this.#drainedMs ??= now;
    // The time of the loss is that of the last state that was any good.
    if (state === "ready" || state === "draining") this.#lostMs = Number.POSITIVE_INFINITY;
    else if (this.#lostMs === Number.POSITIVE_INFINITY) this.#lostMs = now;
    this.#waiters.wakeAll();
  }

  /** Once, and within `waitMsMax`; before the first connection it waits as for a node that died. */
  async #askSoon(request: NodeRequest, waitMsMax: number): Promise<unknown> {
    const begunMs = this.#options.nowMs();
    const context = new InnerContext(request.context, {
      deadline: Math.min(request.context.deadline, begunMs + waitMsMax),
    });
    const untilMs = Math.min(this.#waitEndsMs(begunMs), context.deadline);
    while (this.state === "connecting" && this.#options.nowMs() < untilMs)
      await this.#waiters.wait(untilMs, request.context.signal);
    const connection = this.#connection;
    if (connection === undefined || connection.state !== "ready") throw this.#explained(request, undefined);
    return connection.carry(request.method, request.args, context).catch((thrown: unknown) => {
      throw this.#explained(request, thrown);
    });
  }

  async #await(request: NodeRequest, attempts: number, failure: unknown): Promise<unknown> {
    const { held, nowMs } = this.#options;
    const { context } = request;
    const begunMs = nowMs();
    using _held = held.hold(request.method.heldBytes(...request.args), this.name);
    let last = failure;
    let isRetried = false;
    for (let made = attempts; ; ) {
      if (made > 0 && this.state === "ready")
        await this.#waiters.wait(nowMs() + ATTEMPT_PAUSE_MS, request.context.signal);
      while (this.state !== "ready") {
        let untilMs = Math.min(this.#waitEndsMs(begunMs), context.deadline);
        if (nowMs() >= untilMs) {
          const isTried = !isRetried && nowMs() < context.deadline && this.#connection?.retry() === true;
          if (!isTried) throw this.#explained(request, last);
          isRetried = true;
          untilMs = Math.min(nowMs() + LOST_WAIT_MS, context.deadline);
        }
        if (this.#connection === undefined) throw this.#explained(request, last);
        await this.#waiters.wait(untilMs, request.context.signal);
      }
      const connection = this.#connection;
      if (connection === undefined) throw this.#explained(request, last);
      try {
        return await connection.carry(request.method, request.args, context);
      } catch (thrown) {
        last = thrown;
        made++;
        const isLast = !this.#isDrained && made >= ATTEMPTS_MAX;
        const isOver = nowMs() >= Math.min(begunMs + this.#options.shardWaitMs, context.deadline);
        if (isLast || isOver || !isToBeRepeated(request, thrown)) throw this.#explained(request, thrown);
      }
    }
  }

  /** Whether it is in a drain that it announced, or on its way back from one. */
  get #isDrained(): boolean {
    return this.#drainedMs !== undefined && this.#options.nowMs() - this.#drainedMs < DRAIN_MS_MAX;
  }

  #waitEndsMs(begunMs: number): number {
    if (this.#isDrained) return begunMs + this.#options.shardWaitMs;
    return Math.min(this.#lostMs, begunMs) + LOST_WAIT_MS;
  }

  /** An error of the node itself as it is; else why there was no response, with the shard, its class and the node, still `undelivered`. */
  #explained({ method, args }: NodeRequest, thrown: unknown): unknown {
    if (thrown !== undefined && !hasNoResponse(thrown)) return thrown;
    const shard = shardOf(method, args);
    const prefix = shard === undefined ? "" : `shard ${shard.shardName} of class '${shard.className}': `;
    const retryAfterSeconds = this.#isDrained ? Math.ceil(this.#options.shardWaitMs / 1_000) : 1;
    const message = `${prefix}node '${this.name}' ${this.#reason(thrown, method.isRepeatable(...args))}`;
    const error = new ShoalError("unavailable", message, { cause: thrown, retryAfterSeconds });
    return undelivered(error, deliveryOf(thrown) ?? "never");
  }

  #reason(thrown: unknown, isRepeatable: boolean): string {
    const why = thrown === undefined ? "" : `: ${ShoalError.from(thrown).message}`;
    if (thrown !== undefined && deliveryOf(thrown) === "unknown") {
      return `was lost while it worked on the request${isRepeatable ? "" : ", which may have been carried out"}${why}`;
    }
    if (this.#isDrained) return `is being restarted and is not back yet${why}`;
    if (this.state === "ready") return `turned the request away${why}`;
    return `is not reachable${why}`;
  }
}

/** What was refused for other reasons (too much to do, out of time) is passed on to the client, carried out or not. */
function hasNoResponse(thrown: unknown): boolean {
  return thrown instanceof ShoalError && thrown.code === "unavailable" && deliveryOf(thrown) !== undefined;
}

function isToBeRepeated({ method, args }: NodeRequest, thrown: unknown): boolean {
  return hasNoResponse(thrown) && (deliveryOf(thrown) === "never" || method.isRepeatable(...args));
}
