import { readFileSync } from "node:fs";

/** Memory that a process has right now. Of Linux alone, as all figures here. */
export function residentBytes(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

/** How long the main thread of a process has run on a processor, which other processes do not make longer. */
export function workedMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
