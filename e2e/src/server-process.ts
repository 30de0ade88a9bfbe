import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpClient } from "./http-client.js";

/** The compiled command; `npm test` builds it before the tests run. */
export const SERVER_MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;

export interface ServerOptions {
  /** Variables beside HOST, PORT and PERSISTENCE_DATA_PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new temporary folder that is removed at the end. */
  readonly dataPath?: string;
  /** Options of `shoal serve`. */
  readonly args?: readonly string[];
  /** Words in front of the command, such as `strace -f`. */
  readonly prefix?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A port nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Runs the command once to its end; for starts that are expected to fail. */
export async function runServer(env: Readonly<Record<string, string>>, args: readonly string[] = ["serve"]) {
  const child = spawn(process.execPath, [SERVER_MAIN, ...args], { env: { ...cleanEnvironment(), ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exit = await new Promise<Exit>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`still running after ${READY_TIMEOUT_MS} ms\n${stdout}${stderr}`));
    }, READY_TIMEOUT_MS);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal });
    });
  });
  return { ...exit, stdout, stderr };
}

/** What a process needs of this one's environment; settings of a server never come from there. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const needed = /^(PATH|HOME|USER|TMPDIR|LANG|LC_.*|TZ|NODE_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.test(name)));
}

/** One server process on a free port, with its own data folder unless one is given. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly http: HttpClient;
  /** Everything all runs have printed on both streams. */
  output = "";
  stdout = "";
  #child: ChildProcess | undefined;
  #exited: Promise<Exit> | undefined;

  private constructor(
    readonly port: number,
    readonly dataPath: string,
    readonly ownsData: boolean,
    readonly options: ServerOptions,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.http = new HttpClient(this.url);
  }

  /** Starts a server and waits until it is ready. */
  static async start(options: ServerOptions = {}): Promise<ServerProcess> {
    if (!existsSync(SERVER_MAIN)) throw new Error(`${SERVER_MAIN} is not built: run npm run build`);
    const dataPath = options.dataPath ?? (await mkdtemp(join(tmpdir(), "shoal-e2e-")));
    const server = new ServerProcess(await freePort(), dataPath, options.dataPath === undefined, options);
    try {
      await server.launch();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /** Of the node process itself, also behind a prefix. */
  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("the server is not running");
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Starts it (again) on the same port and data, and waits until it is ready. */
  async launch(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.spawnOnly(env);
    await this.ready();
  }

  /** Starts it without waiting. */
  async spawnOnly(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const [command = process.execPath, ...args] = [
      ...(this.options.prefix ?? []),
      process.execPath,
      SERVER_MAIN,
      "serve",
      ...(this.options.args ?? []),
    ];
    const child = spawn(command, args, {
      env: {
        ...cleanEnvironment(),
        HOST: "127.0.0.1",
        PORT: String(this.port),
        PERSISTENCE_DATA_PATH: this.dataPath,
        ...this.options.env,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (chunk: string): void => {
      this.output = (this.output + chunk).slice(-1_000_000);
    };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.stdout += chunk;
      keep(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", keep);
    this.#child = child;
    this.#exited = new Promise<Exit>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        if (this.#child === child) this.#child = undefined;
        resolve({ code, signal });
      });
    });
  }

  /** Waits until `/v1/.well-known/ready` answers 200; fails when the process ends before. */
  async ready(timeoutMs = READY_TIMEOUT_MS): Promise<void> {
    const until = Date.now() + timeoutMs;
    while (Date.now() < until) {
      if (!this.running) throw new Error(`the server ended before it was ready:\n${this.output}`);
      const status = await fetch(`${this.url}/v1/.well-known/ready`).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`not ready after ${timeoutMs} ms:\n${this.output}`);
  }

  /** The end of the current run, whenever that is. */
  async exited(): Promise<Exit> {
    if (this.#exited === undefined) throw new Error("the server was never started");
    return this.#exited;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** kill -9, and wait. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  /** SIGTERM, and wait for a clean end. */
  async stop(): Promise<Exit> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), STOP_TIMEOUT_MS);
    const exit = await this.exited();
    clearTimeout(timer);
    return exit;
  }

  /** Stops cleanly and starts again. */
  async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { code, signal } = await this.stop();
    if (code !== 0) throw new Error(`stopping gave exit code ${code} (${signal}):\n${this.output}`);
    await this.launch(env);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) await this.kill();
    if (this.ownsData) await rm(this.dataPath, { recursive: true, force: true });
  }
}
