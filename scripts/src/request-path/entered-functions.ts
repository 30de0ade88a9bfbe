import { Session } from "node:inspector";
import { setTimeout as sleep } from "node:timers/promises";

/** A function of ours: the URL of its module, and where it stands there. */
type EnteredFunction = `${string}#${number}`;

/** Long enough for work that a request leaves behind, and for timers that tick once a second. */
const IDLE_MS = 1_200;

/**
 * Which functions of the modules in this process run while something is done. The engine counts calls as long as the session is
 * open, and code runs slower: nothing is timed meanwhile.
 */
export class EnteredFunctions implements Disposable {
  readonly #session = new Session();

  /** `idleMs`: how long is waited for what a run leaves behind, and then looked what runs by itself. */
  constructor(
    private readonly isOurs: (url: string) => boolean,
    private readonly idleMs = IDLE_MS,
  ) {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /**
   * The modules that every one of `times` runs of `work` enters: with a function that does not run, too, while nothing is asked. Timers and
   * what an earlier run left behind are kept out that way, unless they run the same functions.
   */
  async modulesOf(work: () => Promise<void>, times: number): Promise<ReadonlySet<string>> {
    let common: ReadonlySet<EnteredFunction> | undefined;
    const idle = new Set<EnteredFunction>();
    for (let run = 0; run < times; run++) {
      this.#take();
      await work();
      const entered = this.#take();
      common = common === undefined ? entered : new Set([...common].filter((one) => entered.has(one)));
      await sleep(this.idleMs);
      // What the run left behind ends here; the second window is idle.
      this.#take();
      await sleep(this.idleMs);
      for (const one of this.#take()) idle.add(one);
    }
    const asked = [...(common ?? [])].filter((one) => !idle.has(one));
    return new Set(asked.map((one) => one.slice(0, one.lastIndexOf("#"))));
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  /** What was called since the last time. */
  #take(): ReadonlySet<EnteredFunction> {
    const entered = new Set<EnteredFunction>();
    this.#session.post("Profiler.takePreciseCoverage", (error, coverage) => {
      if (error !== null) throw error;
      for (const { url, functions } of coverage.result) {
        if (!this.isOurs(url)) continue;
        for (const { ranges } of functions) {
          const [whole] = ranges;
          if (whole !== undefined && whole.count > 0) entered.add(`${url}#${whole.startOffset}`);
        }
      }
    });
    return entered;
  }
}
