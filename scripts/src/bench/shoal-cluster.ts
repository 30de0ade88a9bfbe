import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import { readClusterFile } from "../cluster/cluster-file.js";
import type { Target } from "./measure.js";

const LAUNCHER = fileURLToPath(new URL("../cluster/main.js", import.meta.url));
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const LOG_LINES_SHOWN = 20;

/**
 * One gateway and three storage nodes of our own as `npm run cluster` starts them, but without TLS, in an empty
 * folder that is removed in the end. They end with this process whatever happens.
 */
export class ShoalCluster implements AsyncDisposable {
  readonly #folder: string;
  readonly #launcher: ChildProcess;
  readonly #killOnExit = (): void => {
    this.#launcher.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  };

  private constructor(folder: string, launcher: ChildProcess) {
    this.#folder = folder;
    this.#launcher = launcher;
    process.on("exit", this.#killOnExit);
  }

  /** Errors: `unavailable`, with the end of what the processes printed, when it ends or is not ready in time. */
  static async start(): Promise<ShoalCluster> {
    const folder = await mkdtemp(join(tmpdir(), "shoal-cluster-"));
    const log = openSync(join(folder, "log"), "a");
    const environment = {
      // The wire form that all figures were taken with.
      WIRE_PROFILE: "spec",
      ...process.env,
      PORT: "0",
      PERSISTENCE_DATA_PATH: join(folder, "data"),
      CLUSTER_GATEWAYS: "1",
      CLUSTER_NODES: "3",
      // As in all figures that are kept: what encryption costs is another question.
      INTERNAL_TLS: "off",
    };
    const launcher = spawn(process.execPath, [LAUNCHER], { env: environment, stdio: ["ignore", log, log] });
    closeSync(log);
    launcher.on("error", () => undefined);
    const cluster = new ShoalCluster(folder, launcher);
    try {
      await cluster.#untilReady();
      return cluster;
    } catch (thrown) {
      await cluster[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** The gateway itself, without the address in front of it, and all processes that have to do with a request. */
  get target(): Target {
    const processes = readClusterFile(join(this.#folder, "data"));
    const gateway = processes.find(({ role }) => role === "gateway");
    if (gateway === undefined) throw new ShoalError("unavailable", `the cluster has no gateway\n${this.log()}`);
    return { url: new URL(gateway.address), pids: processes.map(({ pid }) => pid) };
  }

  /** The last lines of what its processes printed. */
  log(): string {
    const lines = readFileSync(join(this.#folder, "log"), "utf8").trimEnd().split("\n");
    return lines.slice(-LOG_LINES_SHOWN).join("\n");
  }

  /** Ends all of it in order, and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#killOnExit);
    if (this.#launcher.exitCode === null && this.#launcher.pid !== undefined) {
      const ended = new Promise((resolve) => this.#launcher.once("exit", resolve));
      this.#launcher.kill("SIGTERM");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    for (let waited = 0; waited < READY_TIMEOUT_MS; waited += POLL_MS) {
      if (this.#launcher.exitCode !== null) {
        throw new ShoalError("unavailable", `the cluster ended while starting\n${this.log()}`);
      }
      if (readFileSync(join(this.#folder, "log"), "utf8").includes("is serving on")) return;
      await sleep(POLL_MS);
    }
    throw new ShoalError("unavailable", `the cluster is not ready after ${READY_TIMEOUT_MS / 1000} s\n${this.log()}`);
  }
}
