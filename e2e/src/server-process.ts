import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpClient } from "./http-client.js";
import { type Exit, type RunEnvironment, StartedProcess } from "./started-process.js";

/** The compiled command; `npm test` builds it before the tests run. */
export const SERVER_MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

const RUN_TIMEOUT_MS = 180_000;
const OUTPUT_CHARS_MAX = 1_000_000;

export interface ServerOptions {
  /** Variables beside HOST, PORT, PERSISTENCE_DATA_PATH and ALLOWED_HOSTS. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new temporary folder that is removed at the end. */
  readonly dataPath?: string;
  /** Options of `shoal serve`. */
  readonly args?: readonly string[];
  /** Words in front of the command, such as `strace -f`. */
  readonly prefix?: readonly string[];
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
      reject(new Error(`still running after ${RUN_TIMEOUT_MS} ms\n${stdout}${stderr}`));
    }, RUN_TIMEOUT_MS);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal });
    });
  });
  return { ...exit, stdout, stderr };
}

/** What a process needs of this one's environment; settings of a server never come from there. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const needed = /^(PATH|HOME|USER|TMPDIR|LANG|LC_.*|TZ|NODE_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.test(name)));
}

/** One server process on a free port, with its own data folder unless one is given. */
export class ServerProcess extends StartedProcess {
  readonly name = "the server";
  readonly url: string;
  readonly readyUrl: string;
  readonly http: HttpClient;
  /** Everything all runs have printed on both streams. */
  output = "";
  stdout = "";

  private constructor(
    readonly port: number,
    readonly dataPath: string,
    readonly ownsData: boolean,
    readonly options: ServerOptions,
  ) {
    super();
    this.url = `http://127.0.0.1:${port}`;
    this.readyUrl = `${this.url}/v1/.well-known/ready`;
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

  logTail(): string {
    return this.output;
  }

  protected begin(env: RunEnvironment): ChildProcess {
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
        // What tests that write bytes of their own call it.
        ALLOWED_HOSTS: "x",
        ...this.options.env,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (chunk: string): void => {
      this.output = (this.output + chunk).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.stdout += chunk;
      keep(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", keep);
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    if (this.ownsData) await rm(this.dataPath, { recursive: true, force: true });
  }
}
