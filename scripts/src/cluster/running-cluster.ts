import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import { Balancer } from "./balancer.js";
import { type ClusterProcess, writeClusterFile } from "./cluster-file.js";
import type { ClusterPlan, ShoalPlan } from "./cluster-plan.js";
import { makePrivateFolder } from "./private-folder.js";
import { ProcessLog } from "./process-log.js";
import { type ProcessPlan, SupervisedProcess } from "./supervised-process.js";

const POLL_MS = 200;
const READY_TIMEOUT_MS = 120_000;

export interface RunningClusterOptions {
  readonly plan: ClusterPlan;
  readonly dataPath: string;
  readonly host: string;
  readonly port: number;
  readonly connectionsMax: number;
  /** How long one process may take to end. */
  readonly stopTimeoutMs: number;
  /** Where the lines of all processes go. */
  readonly write: (text: string) => void;
}

/** All processes of a cluster and the one address in front of its gateways. */
export class RunningCluster {
  readonly #options: RunningClusterOptions;
  readonly #all: readonly ProcessPlan[];
  readonly #processes = new Map<string, SupervisedProcess>();
  readonly #logs = new Map<string, ProcessLog>();
  readonly #pids = new Map<string, number>();
  readonly #ready = new Set<string>();
  readonly #balancer: Balancer;
  #polling: NodeJS.Timeout | undefined;

  constructor(options: RunningClusterOptions) {
    this.#options = options;
    const { etcd, coordinator, storageNodes, gateways } = options.plan;
    this.#all = [...(etcd === undefined ? [] : [etcd]), coordinator, ...storageNodes, ...gateways];
    this.#balancer = new Balancer(
      gateways.map(({ name, publicPort = 0 }) => ({
        host: "127.0.0.1",
        port: publicPort,
        isReady: () => this.#ready.has(name),
      })),
      options.connectionsMax,
    );
  }

  /**
   * Starts everything and resolves, with the port, when all gateways and storage nodes are ready. Fails with `unavailable`
   * when a process ends before it was ready once, with its last lines: such a start would fail again and again.
   */
  async start(signal: AbortSignal): Promise<number> {
    const { dataPath, host, port, write } = this.#options;
    const logs = join(dataPath, "logs");
    makePrivateFolder(logs);
    const taken = await this.#balancer.listen(host, port);
    const width = Math.max(...this.#all.map(({ name }) => name.length));
    for (const plan of this.#all) {
      const log = new ProcessLog(plan.name, width, join(logs, `${plan.name}.log`), write);
      const supervised = new SupervisedProcess(plan, log, {
        onStarted: (pid) => {
          this.#pids.set(plan.name, pid);
          this.#writeFile();
        },
        onEnded: () => this.#ready.delete(plan.name),
      });
      this.#logs.set(plan.name, log);
      this.#processes.set(plan.name, supervised);
      supervised.start();
    }
    await this.#untilReady(signal);
    this.#polling = setInterval(() => void this.#look(this.#options.plan.gateways), POLL_MS);
    return taken;
  }

  /** In the order in which they need each other: gateways, storage nodes, coordinator, etcd. Whether all ended well. */
  async stop(): Promise<boolean> {
    const { etcd, coordinator, storageNodes, gateways } = this.#options.plan;
    clearInterval(this.#polling);
    this.#balancer.close();
    let isWell = true;
    for (const group of [gateways, storageNodes, [coordinator], etcd === undefined ? [] : [etcd]]) {
      const codes = await Promise.all(
        group.map(({ name }) => this.#processes.get(name)?.stop(this.#options.stopTimeoutMs) ?? 0),
      );
      isWell &&= codes.every((code) => code === 0);
    }
    await this.#balancer[Symbol.asyncDispose]();
    rmSync(join(this.#options.dataPath, "cluster.json"), { force: true });
    return isWell;
  }

  /** At once, without a goodbye. */
  kill(): void {
    for (const process of this.#processes.values()) process.kill();
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    const { coordinator, storageNodes, gateways } = this.#options.plan;
    const ours = [coordinator, ...storageNodes, ...gateways];
    const until = performance.now() + READY_TIMEOUT_MS;
    while (!ours.every(({ name }) => this.#ready.has(name)) && !signal.aborted) {
      for (const { name } of this.#all) {
        const isLost = this.#processes.get(name)?.isRunning === false;
        if (isLost) throw new ShoalError("unavailable", `${name} did not start:\n${this.#logs.get(name)?.last ?? ""}`);
      }
      const late = ours.filter(({ name }) => !this.#ready.has(name)).map(({ name }) => name);
      if (performance.now() > until) {
        throw new ShoalError("unavailable", `not ready after ${READY_TIMEOUT_MS / 1000} s: ${late.join(", ")}`);
      }
      await this.#look(ours);
      await sleep(POLL_MS / 4);
    }
  }

  /** Asks each of them whether it is ready. */
  async #look(plans: readonly ShoalPlan[]): Promise<void> {
    await Promise.all(
      plans.map(async ({ name, internalOrigin }) => {
        const isReady = await fetch(`${internalOrigin}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
          (answer) => answer.status === 200,
          () => false,
        );
        if (isReady && this.#processes.get(name)?.isRunning === true) this.#ready.add(name);
        else this.#ready.delete(name);
      }),
    );
  }

  #writeFile(): void {
    const { coordinator, storageNodes, gateways } = this.#options.plan;
    const processes = [...gateways, ...storageNodes, coordinator].flatMap(
      ({ name, role, internalOrigin, publicPort }): ClusterProcess[] => {
        const pid = this.#pids.get(name);
        const address = publicPort === undefined ? internalOrigin : `http://127.0.0.1:${publicPort}`;
        return pid === undefined ? [] : [{ name, role, pid, address }];
      },
    );
    writeClusterFile(this.#options.dataPath, processes);
  }
}
