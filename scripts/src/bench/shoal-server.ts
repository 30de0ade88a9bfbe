import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import { ask } from "./ask.js";

const CLI = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const READY_POLL_MS = 20;
const LOG_LINES_SHOWN = 20;

/**
 * A server of our own with default settings: one process, a free port, an empty folder that is removed in the end.
 * It ends with this process whatever happens.
 */
export class ShoalServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #killOnExit = () => {
    this.#process?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  };
  #process: ChildProcess | undefined;
  #lastLog: string | undefined;

  private constructor(
    folder: string,
    /** With a token in the place of the password where requests need one. */
    readonly url: URL,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.#folder = folder;
    process.on("exit", this.#killOnExit);
  }

  /** Starts a server on an empty data folder and waits until it is ready, and until the token counts if there is one. */
  static async start(settings: Readonly<Record<string, string>> = {}, token = ""): Promise<ShoalServer> {
    const folder = await mkdtemp(join(tmpdir(), "shoal-server-"));
    const url = new URL(`http://127.0.0.1:${await freePort()}`);
    url.password = token;
    const server = new ShoalServer(folder, url, settings);
    try {
      server.launch();
      await server.untilReady();
      return server;
    } catch (thrown) {
      await server[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new ShoalError("unavailable", "the server does not run");
    return pid;
  }

  /** Starts the process on the data that is there, without waiting. */
  launch(): void {
    const log = openSync(join(this.#folder, "log"), "a");
    const environment = {
      // The wire form that all figures were taken with.
      WIRE_PROFILE: "spec",
      ...process.env,
      ...this.settings,
      HOST: this.url.hostname,
      PORT: this.url.port,
      PERSISTENCE_DATA_PATH: join(this.#folder, "data"),
    };
    const child = spawn(process.execPath, [CLI, "serve"], { env: environment, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#process = child;
    // Without a listener a failed start would end this process; `untilReady` reports it.
    child.on("error", () => undefined);
  }

  /** Errors: `unavailable`, with the end of the server's log, when it ends or is not ready in time. */
  async untilReady(): Promise<void> {
    // The server is ready before it has read the keys of its issuer: a token is 503 until then.
    const path = this.url.password === "" ? "/v1/.well-known/ready" : "/v1/meta";
    for (let waited = 0; waited < READY_TIMEOUT_MS; waited += READY_POLL_MS) {
      if (!this.#runs()) throw new ShoalError("unavailable", `the server ended while starting\n${this.log()}`);
      const status = await ask(this.url, path).then(
        (response) => response.body?.cancel().then(() => response.status) ?? response.status,
        () => 0,
      );
      if (status === 200) return;
      await sleep(READY_POLL_MS);
    }
    throw new ShoalError("unavailable", `the server is not ready after ${READY_TIMEOUT_MS / 1000} s\n${this.log()}`);
  }

  /** The last lines of what the server printed; they outlive its folder. */
  log(): string {
    if (this.#lastLog !== undefined) return this.#lastLog;
    const lines = readFileSync(join(this.#folder, "log"), "utf8").trimEnd().split("\n");
    return lines.slice(-LOG_LINES_SHOWN).join("\n");
  }

  /** kill -9, and waits until the process is gone. */
  async kill(): Promise<void> {
    const ended = this.#ended();
    this.#process?.kill("SIGKILL");
    await ended;
    this.#process = undefined;
  }

  /** Asks the server to end; kills it, and fails, when it does not. Removes its folder in any case. */
  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#killOnExit);
    let stopped = true;
    if (this.#runs()) {
      const ended = this.#ended();
      this.#process?.kill("SIGTERM");
      stopped = await Promise.race([ended.then(() => true), sleep(STOP_TIMEOUT_MS, false, { ref: false })]);
      if (!stopped) await this.kill();
    }
    this.#lastLog = this.log();
    await rm(this.#folder, { recursive: true, force: true });
    if (!stopped) {
      throw new ShoalError(
        "internal",
        `the server did not end within ${STOP_TIMEOUT_MS / 1000} s of SIGTERM\n${this.#lastLog}`,
      );
    }
  }

  #runs(): boolean {
    const child = this.#process;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  #ended(): Promise<void> {
    if (!this.#runs()) return Promise.resolve();
    return new Promise((resolve) => this.#process?.once("exit", () => resolve()));
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
