import { setTimeout as pause } from "node:timers/promises";
import { escapeText, type JsonObject, ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import { InnerContext, type RequestContext, TimedSignal } from "@shoal/runtime";
import type { Dispatcher, Pool } from "undici";

/** Longest a container may work on one call; most requests have less. */
const CALL_MS_MAX = 60_000;
const CONNECT_MS_MAX = 5_000;
const RETRY_PAUSE_MS = 100;

/** Vectors and answers are small; what is longer is none. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
/** Connections, and so calls at a time. Further ones wait in turn. */
const CONNECTIONS_MAX = 16;

const READY_MS_MAX = 120_000;
const READY_PAUSE_MS = 1_000;
const READY_CALL_MS = 500;

/** How much of a response that is not understood is shown. */
const SHOWN_CHARS = 80;

/** What proxies answer while nobody is behind them. */
const NOBODY_THERE: ReadonlySet<number> = new Set([502, 503, 504]);

type Call = Pick<Dispatcher.RequestOptions, "method" | "path" | "body">;

interface ContainerResponse {
  readonly status: number;
  readonly text: string;
}

/**
 * A container with a model that is asked over HTTP (reference-graphql 8.6). Calls change nothing there, so one that did not
 * reach it is sent once more. Connections are opened by the first call.
 */
export class InferenceContainer implements AsyncDisposable {
  readonly #module: string;
  readonly #url: URL;
  readonly #nowMs: () => number;
  readonly #tell: ModuleResources["tell"];
  #pool: Promise<Pool> | undefined;

  /** `address`: scheme, host and port, perhaps a path; `module` is for messages. */
  constructor(module: string, address: string, { nowMs, tell }: Pick<ModuleResources, "nowMs" | "tell">) {
    this.#module = module;
    this.#url = new URL(address);
    this.#nowMs = nowMs;
    this.#tell = tell;
  }

  /**
   * The object that the container answers. Fails with `invalid` when it refuses what it was sent, with `unavailable` when it
   * fails, is gone or answers nonsense, with `deadlineExceeded` when it takes too long.
   */
  async post(path: string, body: JsonObject, context: RequestContext): Promise<JsonObject> {
    return this.#objectOf(await this.#call({ method: "POST", path, body: JSON.stringify(body) }, context));
  }

  /** The member `vector` of what `post` answers. Fails as that, and with `unavailable` when there is none. */
  async vector(path: string, body: JsonObject, context: RequestContext): Promise<Float32Array> {
    const { vector, error } = await this.post(path, body, context);
    if (typeof error === "string" && error !== "") throw this.#failure("unavailable", error);
    if (Array.isArray(vector) && vector.length > 0) {
      const numbers = Float32Array.from(vector, (number) => (typeof number === "number" ? number : Number.NaN));
      if (numbers.every(Number.isFinite)) return numbers;
    }
    throw this.#failure("unavailable", "it answered no vector of numbers");
  }

  /** What the container says of itself. Fails as `post`. */
  async meta(context: RequestContext): Promise<JsonObject> {
    return this.#objectOf(await this.#call({ method: "GET", path: "/meta" }, context));
  }

  /** Resolves when the container says that it is ready; asks every second. Fails with `unavailable` after two minutes. */
  readonly awaitReady = async (context: RequestContext): Promise<void> => {
    const end = Math.min(context.deadline, this.#nowMs() + READY_MS_MAX);
    for (;;) {
      const failure = await this.#notReady(new InnerContext(context, { deadline: this.#nowMs() + READY_CALL_MS }));
      if (failure === undefined) return;
      context.signal?.throwIfAborted();
      if (this.#nowMs() + READY_PAUSE_MS > end) {
        throw this.#failure("unavailable", `is not ready, and was waited for long enough: ${failure}`);
      }
      this.#tell("an inference container is not ready yet", { module: this.#module, address: this.#url.href, failure });
      await pause(READY_PAUSE_MS, undefined, context.signal === undefined ? {} : { signal: context.signal });
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (await pool)?.destroy();
  }

  async #notReady(context: RequestContext): Promise<string | undefined> {
    try {
      const { status } = await this.#callOnce({ method: "GET", path: "/.well-known/ready" }, context);
      return status <= 299 ? undefined : `status ${status}`;
    } catch (thrown) {
      return ShoalError.from(thrown).message;
    }
  }

  async #call(call: Call, context: RequestContext): Promise<ContainerResponse> {
    const deadline = Math.min(context.deadline, this.#nowMs() + CALL_MS_MAX);
    const bounded = new InnerContext(context, { deadline });
    const retriable = (): boolean => this.#nowMs() + RETRY_PAUSE_MS < bounded.deadline;
    try {
      const response = await this.#callOnce(call, bounded);
      if (!NOBODY_THERE.has(response.status) || !retriable()) return response;
    } catch (thrown) {
      if (ShoalError.from(thrown).code !== "unavailable" || !retriable()) throw thrown;
    }
    await pause(RETRY_PAUSE_MS);
    context.signal?.throwIfAborted();
    return this.#callOnce(call, bounded);
  }

  async #callOnce({ path, ...call }: Call, context: RequestContext): Promise<ContainerResponse> {
    const lateError = () => this.#failure("deadlineExceeded", "has not answered in time");
    using timed = new TimedSignal(context, this.#nowMs(), lateError);
    try {
      this.#pool ??= openPool(this.#url.origin);
      const response = await (await this.#pool).request({
        ...call,
        path: this.#url.pathname.replace(/\/$/, "") + path,
        signal: timed.signal,
        ...(call.body === undefined ? {} : { headers: { "content-type": "application/json" } }),
      });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (thrown) {
      timed.signal.throwIfAborted();
      throw this.#failure("unavailable", `cannot be reached: ${reasonOf(thrown)}`, thrown);
    }
  }

  #objectOf({ status, text }: ContainerResponse): JsonObject {
    const parsed = objectOf(text);
    if (status > 399) {
      const said = parsed?.error ?? parsed?.detail;
      const reason = typeof said === "string" && said !== "" ? `: ${said}` : "";
      const isRefused = status < 500 && status !== 404 && status !== 429;
      throw this.#failure(isRefused ? "invalid" : "unavailable", `it answered with status ${status}${reason}`);
    }
    if (parsed !== undefined) return parsed;
    const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
    throw this.#failure("unavailable", `its answer must be a JSON object, got '${escapeText(shown)}'`);
  }

  #failure(code: "invalid" | "unavailable" | "deadlineExceeded", text: string, cause?: unknown): ShoalError {
    return new ShoalError(code, `the container of ${this.#module} at ${this.#url.host}: ${text}`, { cause });
  }
}

/** The library is loaded by the first call: who has no containers does not pay for it. */
async function openPool(origin: string): Promise<Pool> {
  const { default: undici } = await import("undici");
  return new undici.Pool(origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    maxResponseSize: RESPONSE_BYTES_MAX,
    // A call is bounded as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS_MAX },
  });
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Of several attempts at addresses of one name the library makes one error without a text. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(reasonOf).join(", ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}
