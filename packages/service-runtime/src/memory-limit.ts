import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";

export interface MemoryLimit {
  readonly bytes: number;
  /** What sets it, for messages: `memory.max of control group /a/b`. */
  readonly source: string;
}

/** Reads a file of the system; undefined when it is not there or cannot be read. */
export type ReadSystemFile = (path: string) => string | undefined;

/**
 * How much memory this process may use before it is killed: the least of `memory.max` (control groups v2), or of
 * `memory.limit_in_bytes` (v1), of its own control group and of those above it, and of what the machine has.
 */
export function memoryLimit(read: ReadSystemFile = readSystemFile, machineBytes = totalmem()): MemoryLimit {
  let least: MemoryLimit = { bytes: machineBytes, source: "the memory of the machine" };
  for (const { folder, group, file } of controlGroups(read)) {
    const bytes = limitIn(read(join(folder, file)));
    if (bytes !== undefined && bytes < least.bytes) least = { bytes, source: `${file} of control group ${group}` };
  }
  return least;
}

interface ControlGroup {
  readonly folder: string;
  /** Its name in the hierarchy. */
  readonly group: string;
  readonly file: string;
}

/** Those that the process is in, itself first, in each hierarchy that may bound its memory. */
function* controlGroups(read: ReadSystemFile): Iterable<ControlGroup> {
  const groups = read("/proc/self/cgroup")?.split("\n") ?? [];
  const mounts = read("/proc/self/mountinfo")?.split("\n") ?? [];
  for (const line of groups) {
    const [, number, controllers = "", group] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (number === undefined || group === undefined) continue;
    const isUnified = number === "0" && controllers === "";
    if (!isUnified && !controllers.split(",").includes("memory")) continue;
    const mount = mounts.map(readMount).find((one) => one !== undefined && one.isUnified === isUnified);
    if (mount === undefined) continue;
    yield* withParents(mount, group, isUnified ? "memory.max" : "memory.limit_in_bytes");
  }
}

/** A group is a folder below where its hierarchy is mounted, of which a container often sees its own part alone. */
function* withParents({ root, point }: Mount, group: string, file: string): Iterable<ControlGroup> {
  const isBelow = root === "/" || group === root || group.startsWith(`${root}/`);
  // Of a group outside of what is mounted (`/../x`, another name space) the top is the nearest that can be seen.
  let inner = isBelow && !group.split("/").includes("..") ? `/${group.slice(root === "/" ? 1 : root.length + 1)}` : "/";
  for (;;) {
    yield { folder: join(point, inner), group: inner === "/" ? root : join(root, inner), file };
    if (inner === "/") return;
    inner = dirname(inner);
  }
}

interface Mount {
  /** The part of the hierarchy that is mounted. */
  readonly root: string;
  /** Where. */
  readonly point: string;
  readonly isUnified: boolean;
}

/** A line of proc_pid_mountinfo(5); undefined when it is not that of a hierarchy that may bound memory. */
function readMount(line: string): Mount | undefined {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root, point] = before.split(" ");
  const [type, , options = ""] = after.split(" ");
  if (root === undefined || point === undefined) return undefined;
  const isUnified = type === "cgroup2";
  if (!isUnified && (type !== "cgroup" || !options.split(",").includes("memory"))) return undefined;
  return { root: unescaped(root), point: unescaped(point), isUnified };
}

/** Spaces and the like stand as octal numbers there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Undefined: none, which is `max`, or a number that no machine has. */
function limitIn(text: string | undefined): number | undefined {
  const digits = text?.trim();
  return digits !== undefined && /^\d+$/.test(digits) ? Number(digits) : undefined;
}

function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
