import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import type { LoopReport } from "./load-generator/closed-loop.js";
import type { Load, LoadCommand, LoadEvent } from "./load-generator/load.js";

const LOAD_GENERATOR = fileURLToPath(new URL("./load-generator/main.js", import.meta.url));

export interface LoadResult extends LoopReport {
  readonly recall: number | null;
}

/** One run of the load generator in a process of its own: `start`, then `warmUp`, then `run`. */
export class LoadRun implements Disposable {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Fulfilled when the requests are prepared and the connections stand. */
  static async start(load: Load): Promise<LoadRun> {
    const child = fork(LOAD_GENERATOR, [JSON.stringify(load)], { execArgv: ["--max-old-space-size=4096"] });
    const run = new LoadRun(child);
    try {
      await run.#event("ready");
      return run;
    } catch (thrown) {
      run[Symbol.dispose]();
      throw thrown;
    }
  }

  async warmUp(): Promise<void> {
    await this.#command("warmUp", "warm");
  }

  /** Errors: `internal` when any response was not as it must be: such a run measures nothing. */
  async run(): Promise<LoadResult> {
    const { report, recall } = await this.#command("run", "done");
    if (report.faults > 0) {
      const statuses = JSON.stringify(report.statuses);
      const shown = report.faultsShown.join("\n  ");
      throw new ShoalError("internal", `${report.faults} faulty responses, statuses ${statuses}:\n  ${shown}`);
    }
    return { ...report, recall };
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }

  #command<Type extends LoadEvent["type"]>(
    command: LoadCommand,
    answer: Type,
  ): Promise<Extract<LoadEvent, { type: Type }>> {
    const event = this.#event(answer);
    this.#process.send(command);
    return event;
  }

  #event<Type extends LoadEvent["type"]>(type: Type): Promise<Extract<LoadEvent, { type: Type }>> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#process.off("message", received);
        this.#process.off("exit", exited);
        act();
      };
      const received = (message: unknown) => {
        const event = message as LoadEvent;
        if (event.type === type) settle(() => resolve(event as Extract<LoadEvent, { type: Type }>));
        else if (event.type === "failed") {
          settle(() => reject(new ShoalError("internal", `load generator: ${event.message}`)));
        }
      };
      const exited = (code: number | null, signal: string | null) =>
        settle(() => reject(new ShoalError("internal", `the load generator ended early (${signal ?? code})`)));
      this.#process.on("message", received);
      this.#process.on("exit", exited);
    });
  }
}
