import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, freePort, SERVER_MAIN } from "./server-process.js";
import { type RunEnvironment, StartedProcess } from "./started-process.js";

/** Where servers with the words in their own process keep them converted. */
const CONVERTED = fileURLToPath(new URL("../../packages/modules/text2vec-contextionary/.cache/", import.meta.url));
const OUTPUT_CHARS_MAX = 10_000;

/** `shoal contextionary` on a free port, with a data folder of its own. It does not convert the words again. */
export class ContextionaryProcess extends StartedProcess {
  readonly name = "the contextionary";
  readonly readyUrl: string;
  /** For `CONTEXTIONARY_URL`. */
  readonly address: string;
  readonly #dataPath = mkdtempSync(join(tmpdir(), "shoal-contextionary-"));
  readonly #settings: Readonly<Record<string, string>>;
  #output = "";

  private constructor(port: number, internalPort: number, env: Readonly<Record<string, string>>) {
    super();
    this.address = `127.0.0.1:${port}`;
    this.readyUrl = `http://127.0.0.1:${internalPort}/ready`;
    this.#settings = {
      ...env,
      PERSISTENCE_DATA_PATH: this.#dataPath,
      INTERNAL_PORT: String(port),
      METRICS_PORT: String(internalPort),
    };
    mkdirSync(CONVERTED, { recursive: true });
    mkdirSync(join(this.#dataPath, "modules"));
    symlinkSync(CONVERTED, join(this.#dataPath, "modules", "text2vec-contextionary"));
  }

  /** `env`: settings beside its ports and its folder. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<ContextionaryProcess> {
    const contextionary = new ContextionaryProcess(await freePort(), await freePort(), env);
    try {
      await contextionary.launch();
    } catch (error) {
      await contextionary[Symbol.asyncDispose]();
      throw error;
    }
    return contextionary;
  }

  logTail(): string {
    return this.#output;
  }

  protected begin(env: RunEnvironment): ChildProcess {
    const child = spawn(process.execPath, [SERVER_MAIN, "contextionary"], {
      env: { ...cleanEnvironment(), ...this.#settings, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        this.#output = (this.#output + chunk).slice(-OUTPUT_CHARS_MAX);
      });
    }
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    rmSync(this.#dataPath, { recursive: true, force: true });
  }
}
