import { ShoalError } from "@shoal/model";
import { undelivered } from "../delivery.js";
import type { ConnectionState, NodeCarrier, NodeConnection } from "../node-connection.js";
import { type CarryCall, shardServiceBy } from "../shard-methods.js";
import { deadlineError } from "../stream/message-head.js";
import { clientCredentials } from "../tls/credentials.js";
import type { TlsSource } from "../tls/tls-source.js";
import { type NodeConnectionLimits, NodeLink } from "./node-link.js";
import { describeTarget } from "./pending-request.js";

export interface ConnectNodeOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The version of the schema that this process knows: it travels with every request. */
  readonly schemaVersion: () => number;
  /** Called at every answer with the version that the node knows. */
  readonly onNodeSchemaVersion?: (version: number) => void;
  /** Plain text when undefined. */
  readonly tls?: TlsSource | undefined;
  readonly limits?: Partial<NodeConnectionLimits>;
}

const LIMITS: NodeConnectionLimits = {
  messageBytesMax: 512 * 1024 * 1024,
  unsentBytesMax: 64 * 1024 * 1024,
  requestsMax: 10_000,
  connectTimeoutMs: 2_000,
};

const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;

/** Keeps one link to a node, and makes a new one when it breaks. */
class NodeChannel implements NodeCarrier {
  readonly name: string;
  readonly #address: string;
  readonly #options: ConnectNodeOptions;
  readonly #limits: NodeConnectionLimits;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = "connecting";
  #reason = "it is being connected to";
  #link: NodeLink | undefined;
  #backoffMs = BACKOFF_FIRST_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(name: string, address: string, options: ConnectNodeOptions) {
    this.name = name;
    this.#address = address;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  onState(listener: (state: ConnectionState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  readonly carry: CarryCall = (method, args, context) => {
    // Of a small one the signal is looked at when it has been under way for a while: it need not be made before.
    if (method.isLong !== undefined && context.signal?.aborted) return Promise.reject(context.signal.reason);
    if (context.deadline <= this.#options.now())
      return Promise.reject(deadlineError(describeTarget(method, args, this.name)));
    if (this.#state === "ready" && this.#link !== undefined) return this.#link.ask(method, args, context);
    const text = `${this.#address}: ${this.#reason}`;
    const error = new ShoalError("unavailable", text, { retryAfterSeconds: 1 });
    return Promise.reject(undelivered(error, "never"));
  };

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#retryTimer);
    this.#link?.close();
    this.#enter("unreachable", "this process has closed the connection");
    this.#listeners.clear();
  }

  #connect(): void {
    const { now, schemaVersion, onNodeSchemaVersion = () => undefined, tls } = this.#options;
    try {
      this.#link = new NodeLink({
        name: this.name,
        address: this.#address,
        credentials: clientCredentials(tls, this.name),
        now,
        schemaVersion,
        onNodeSchemaVersion,
        ...this.#limits,
        onReady: () => {
          this.#backoffMs = BACKOFF_FIRST_MS;
          this.#enter("ready", "");
        },
        onDraining: () => this.#enter("draining", "it is being stopped"),
        onEnd: (reason) => this.#onLinkEnd(reason),
      });
    } catch (error) {
      // Certificates that do not fit each other, an address that is none.
      this.#onLinkEnd(ShoalError.from(error).message);
    }
  }

  #onLinkEnd(reason: string): void {
    this.#link = undefined;
    if (this.#isOver) return;
    this.#enter("unreachable", reason);
    this.#retryTimer = setTimeout(() => this.#connect(), this.#backoffMs);
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2);
  }

  #enter(state: ConnectionState, reason: string): void {
    this.#reason = reason;
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

/**
 * Connects at once, and again whenever the connection breaks, until it is disposed of; what is under way then fails with
 * `unavailable`. `name` is the node that must answer at `address` (`host:port`).
 */
export function connectNode(name: string, address: string, options: ConnectNodeOptions): NodeConnection {
  const channel = new NodeChannel(name, address, options);
  return Object.assign(channel, shardServiceBy(channel.carry));
}
