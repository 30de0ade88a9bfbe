import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CopyNodeOrder, CopyNodeReport } from "./copy-node.js";

const MAIN = fileURLToPath(new URL("./copy-node.js", import.meta.url));

const NOTHING = { inSync: 0, primaries: 0 };

/** A process of `copy-node.ts`, which ends with this one. */
export class ForkedCopyNode implements Disposable {
  counts = NOTHING;
  /** Shards that it has acknowledged a write to since the last order. */
  readonly written = new Set<string>();
  #child: ChildProcess | undefined;

  constructor(
    readonly name: string,
    readonly coordinator: string,
    readonly folder: string,
  ) {}

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(): void {
    const child = fork(MAIN, [this.name, this.coordinator, `${this.folder}/${this.name}.copies`]);
    this.#child = child;
    child.on("message", (report: CopyNodeReport) => {
      if (this.#child !== child) return;
      const { inSync = this.counts.inSync, primaries = this.counts.primaries } = report;
      this.counts = { inSync, primaries };
      for (const shard of report.written) this.written.add(shard);
    });
  }

  order(type: CopyNodeOrder["type"]): void {
    this.written.clear();
    this.#child?.send({ type } satisfies CopyNodeOrder);
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
    this.counts = NOTHING;
  }

  [Symbol.dispose](): void {
    this.kill();
  }
}
