import { ShoalError } from "@shoal/model";
import { ask } from "./ask.js";
import { BENCH_SETS, classDefinition, type SetName } from "./bench-class.js";
import { type Measurement, measure, type Target } from "./measure.js";
import type { QueryKind } from "./query-vectors.js";
import { ShoalServer } from "./shoal-server.js";
import { TokenIssuer } from "./token-issuer.js";
import type { ImportParameters } from "./workloads/import-objects.js";

export const OBJECTS_PER_BATCH = 100;
const IMPORT_SECONDS_MAX = 300;

export interface BenchOptions {
  /** A server that runs already; null starts one for each set. */
  readonly target: Target | null;
  /** Instead of what a row would take. */
  readonly queries: QueryKind | null;
  /** Servers demand tokens, and requests carry one. */
  readonly withTokens: boolean;
  /** Where one line on what happens goes. */
  readonly say: (line: string) => void;
}

/** A server that holds a set, and what it cost to import it. */
export interface LoadedServer extends Target {
  readonly set: SetName;
  readonly loaded: number;
  readonly imported: Measurement;
}

/**
 * What rows run on. A set is imported once and stays loaded as long as the rows ask for it: the rows of one set stand
 * together in the registry, those that change the data last.
 */
export class Bench implements AsyncDisposable {
  readonly #options: BenchOptions;
  readonly #createdOnTarget: SetName[] = [];
  #server: ShoalServer | undefined;
  /** Whichever was started last, also one that a row owns. */
  #lastServer: ShoalServer | undefined;
  #loaded: LoadedServer | undefined;
  #issuer: TokenIssuer | undefined;

  constructor(options: BenchOptions) {
    this.#options = options;
  }

  say(line: string): void {
    this.#options.say(line);
  }

  queries(otherwise: QueryKind): QueryKind {
    return this.#options.queries ?? otherwise;
  }

  /** A server that holds the first `BENCH_SETS[set].loaded` rows, everything in the graph. */
  async loaded(set: SetName): Promise<LoadedServer> {
    if (this.#loaded?.set === set) return this.#loaded;
    const target = this.#options.target ?? (await this.#freshServer());
    this.#loaded = await this.importInto(target, set, BENCH_SETS[set].loaded);
    return this.#loaded;
  }

  /**
   * Creates the class, with `settings` of its own, and imports the first `count` rows, 100 a batch, until the server rests unless told not
   * to wait.
   */
  async importInto(
    target: Target,
    set: SetName,
    count: number,
    untilIdle = true,
    settings: object = {},
  ): Promise<LoadedServer> {
    this.say(`importing ${count.toLocaleString("en")} rows of ${set}`);
    await createClass(target.url, set, settings);
    if (target === this.#options.target) this.#createdOnTarget.push(set);
    const parameters: ImportParameters = { set, from: 0, count, perBatch: OBJECTS_PER_BATCH };
    const imported = await measure(target, {
      workload: "import-objects",
      parameters,
      secondsMax: IMPORT_SECONDS_MAX,
      operationsPerRequest: OBJECTS_PER_BATCH,
      untilIdle,
    });
    if (imported.load.requests * OBJECTS_PER_BATCH < count) {
      throw new ShoalError("deadlineExceeded", `the import takes longer than ${IMPORT_SECONDS_MAX} s`);
    }
    return { ...target, set, loaded: count, imported };
  }

  /** A server of its own for one row; the row disposes of it. Frees the loaded one first: memory and CPU are shared. */
  async ownServer(): Promise<ShoalServer> {
    await this.#stopServer();
    this.#lastServer = await this.#startServer();
    return this.#lastServer;
  }

  async #startServer(): Promise<ShoalServer> {
    if (!this.#options.withTokens) return ShoalServer.start();
    this.#issuer ??= await TokenIssuer.start();
    return ShoalServer.start(this.#issuer.settings, this.#issuer.token());
  }

  async #freshServer(): Promise<Target> {
    await this.#stopServer();
    this.say("starting a server");
    this.#server = await this.#startServer();
    this.#lastServer = this.#server;
    return { url: this.#server.url, pids: [this.#server.pid] };
  }

  /** After a row that failed: the next one gets a fresh server. */
  async abandon(): Promise<void> {
    await this.#stopServer();
  }

  async #stopServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#loaded = undefined;
    await server?.[Symbol.asyncDispose]();
  }

  /** The end of the log of the last server, for an error that it may explain. */
  serverLog(): string {
    return this.#lastServer?.log() ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopServer();
    this.#issuer?.[Symbol.dispose]();
    const url = this.#options.target?.url;
    if (url === undefined) return;
    for (const set of this.#createdOnTarget) {
      await ask(url, `/v1/schema/${BENCH_SETS[set].className}`, { method: "DELETE" });
    }
  }
}

/**
 * Errors: `conflict` when the class cannot be created: the benchmark never takes a class that it has not made;
 * `unavailable` when nobody answers.
 */
async function createClass(url: URL, set: SetName, settings: object): Promise<void> {
  const response = await ask(url, "/v1/schema", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...classDefinition(set), ...settings }),
  }).catch((cause: Error) => {
    const reason = cause.cause instanceof Error ? cause.cause.message : cause.message;
    throw new ShoalError("unavailable", `cannot reach ${url.host}: ${reason}`, { cause });
  });
  const answer = await response.text();
  if (response.status !== 200) {
    throw new ShoalError(
      "conflict",
      `class ${BENCH_SETS[set].className} cannot be created: ${response.status} ${answer}`,
    );
  }
}
