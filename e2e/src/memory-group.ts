import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { undoAtEnd } from "./cluster/cleanup.js";

const MIB = 1024 * 1024;
const REMOVE_ATTEMPTS = 50;

/** The two kinds of control groups that bound memory: where they are made, and what their files are called. */
const KINDS = [
  { folder: "/sys/fs/cgroup", limit: "memory.max", swap: "memory.swap.max", events: "memory.events" },
  {
    folder: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    swap: "memory.memsw.limit_in_bytes",
    events: "memory.oom_control",
  },
] as const;

let made = 0;

/** A control group of Linux, of version 1 or 2, whose processes may use so much memory together. Needs root. */
export class MemoryGroup implements AsyncDisposable {
  readonly #folder: string;
  readonly #events: string;
  readonly #undo: Disposable;

  private constructor(folder: string, events: string) {
    this.#folder = folder;
    this.#events = events;
    this.#undo = undoAtEnd(() => removeFolder(folder));
  }

  /** Undefined where this machine has none, or does not let us make one. */
  static make(mib: number): MemoryGroup | undefined {
    for (const { folder, limit, swap, events } of KINDS) {
      const own = join(folder, `shoal-test-${process.pid}-${++made}`);
      try {
        mkdirSync(own);
      } catch {
        continue;
      }
      try {
        writeFileSync(join(own, limit), String(mib * MIB), { flag: "r+" });
      } catch {
        removeFolder(own);
        continue;
      }
      // Memory that goes to a swap device would hide what is looked for; not every kernel counts it.
      const swapMib = limit === "memory.max" ? 0 : mib;
      try {
        writeFileSync(join(own, swap), String(swapMib * MIB), { flag: "r+" });
      } catch {}
      return new MemoryGroup(own, events);
    }
    return undefined;
  }

  /** Words in front of a command that runs in the group. */
  get prefix(): readonly string[] {
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', this.#folder];
  }

  /** Processes that the kernel has killed for their memory. */
  get kills(): number {
    const found = /^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, this.#events), "utf8"))?.[1];
    if (found === undefined) throw new Error(`${this.#folder}/${this.#events} does not tell of kills`);
    return Number(found);
  }

  /** Once its processes have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let attempt = 0; attempt < REMOVE_ATTEMPTS && !removeFolder(this.#folder); attempt++) await pause(20);
    this.#undo[Symbol.dispose]();
  }
}

/** Whether this machine lets us make one. */
export function hasMemoryGroups(): boolean {
  const group = MemoryGroup.make(64);
  if (group === undefined) return false;
  void group[Symbol.asyncDispose]();
  return true;
}

/** False while processes are in it. */
function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
  return true;
}
