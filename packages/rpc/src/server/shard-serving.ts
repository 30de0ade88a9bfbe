import { ShoalError } from "@shoal/model";
import { Budget, ByteBudget } from "@shoal/runtime";
import type { PacketStream } from "../stream/frame-stream.js";
import { RunningRequests } from "./running-requests.js";
import { type ServedNode, ShardServer, type ShardServingLimits } from "./shard-server.js";

export const SERVING_LIMITS: ShardServingLimits = {
  messageBytesMax: 512 * 1024 * 1024,
  heldBytesMax: 128 * 1024 * 1024,
  answerBytesMax: 512 * 1024 * 1024,
  answersBytesMax: 1024 * 1024 * 1024,
  requestsMax: 10_000,
};

const SENT_POLL_MS = 5;

/** All streams of all callers of a node. */
export class ShardServing implements Disposable {
  readonly #node: ServedNode;
  readonly #now: () => number;
  readonly #limits: ShardServingLimits;
  readonly #running: RunningRequests;
  /** What all responses hold, from their first row until they have been sent. */
  readonly #responses: ByteBudget;
  /** One request may be as large as all of them together. */
  readonly #unfinished: Budget;
  readonly #streams = new Set<ShardServer>();
  #served = 0;
  #parts = 0;
  #isDraining = false;

  constructor(
    node: ServedNode,
    options: { readonly now: () => number; readonly limits?: Partial<ShardServingLimits> },
  ) {
    this.#node = node;
    this.#now = options.now;
    this.#limits = { ...SERVING_LIMITS, ...options.limits };
    this.#running = new RunningRequests(options.now);
    this.#unfinished = new Budget(this.#limits.messageBytesMax);
    const { answersBytesMax } = this.#limits;
    const text = `the answers under way of a node take more than ${answersBytesMax} bytes (INTERNAL_ANSWERS_BYTES_MAX)`;
    const fullError = () => new ShoalError("overloaded", text, { retryAfterSeconds: 1 });
    this.#responses = new ByteBudget({ max: answersBytesMax, mayGoAlone: true, fullError });
  }

  serve(call: PacketStream): void {
    const server = new ShardServer(call, {
      number: ++this.#served,
      node: this.#node,
      running: this.#running,
      responses: this.#responses,
      unfinished: this.#unfinished,
      partOrder: () => ++this.#parts,
      now: this.#now,
      ...this.#limits,
      isDraining: () => this.#isDraining,
      onEnd: (stream) => this.#streams.delete(stream),
    });
    this.#streams.add(server);
  }

  /** Resolves when every request that was begun is answered, and the responses have left. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.announceDrain();
    await this.#running.whenIdle();
    while ([...this.#streams].some(({ unsentBytes }) => unsentBytes > 0)) {
      await new Promise((resolve) => setTimeout(resolve, SENT_POLL_MS));
    }
  }

  [Symbol.dispose](): void {
    this.#running[Symbol.dispose]();
    for (const stream of [...this.#streams]) stream.end();
  }
}
