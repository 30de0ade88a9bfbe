import { setTimeout as pause } from "node:timers/promises";
import { at, errorOf } from "../http-client.js";
import { MemoryGroup } from "../memory-group.js";
import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { WIDE_CLASS, WideData } from "./wide-data.js";

const MIB = 1024 * 1024;
const DIMENSIONS = 1_536;
const BATCH = 50;

/** On a machine that is busy otherwise an index that is built beside the one in use takes a minute. */
const ROOM_TIMEOUT_MS = 120_000;
const SAMPLE = 60;

/** `fullMs`: refused for so long, with a try every 200 ms, it is full; freed memory comes back within some seconds. */
const SIZES = {
  short: { mib: 240, kills: 1, fullMs: 2_500 },
  long: { mib: 600, kills: 10, fullMs: 4_000 },
} as const;

/**
 * R29: vectors of 1,536 numbers are imported into a control group that has little memory. Before it ends, imports are refused
 * in words; then the process is killed again and again. It is ready each time, the kernel kills it never, nothing that was
 * acknowledged is lost, and deletions make room for more. With a budget below what the data takes it starts, and is read-only.
 */
export const R29: FaultRow = {
  id: "R29",
  title: "memory budget",
  needs: ["root", "memory control group"],
  run: async ({ size, random, say }) => {
    const failures = new Failures();
    const { mib, kills, fullMs } = SIZES[size];
    await using group = MemoryGroup.make(mib);
    if (group === undefined) throw new Error("no control group could be made");
    await using server = await ServerProcess.start({ prefix: group.prefix });
    const run = new MemoryRun(server, new WideData(server.http, DIMENSIONS, random), failures, random, fullMs);
    const { data } = run;
    await data.createClass();
    const refusal = await run.fill();
    say(`full with ${data.stored.size} objects: ${refusal}`);
    const first = data.stored.size;
    failures.check(/MEMORY_BUDGET_BYTES/.test(refusal), `an item is refused without the setting: ${refusal}`);
    await run.checkRefusedPost();

    const readyMs: number[] = [];
    for (let round = 0; round < kills; round++) {
      readyMs.push(await run.killAndLaunch());
      await run.check(`after kill ${round + 1}`);
      // As much as there is room for: what is full stays full.
      await data.importBatch(BATCH);
    }
    say(`ready ${kills} times, after ${Math.max(...readyMs)} ms at most`);

    const full = data.stored.size;
    const victims = [...data.stored].filter((n) => n % 3 === 0);
    failures.check((await data.delete(victims)) === 0, "deletions failed while memory was short");
    const half = full - Math.floor(victims.length / 2);
    const roomMs = await run.untilStored(half);
    await run.check("after deletions");
    say(`again: ${await run.fill()}`);
    const gained = data.stored.size - (full - victims.length);
    say(`${victims.length} deleted, ${gained} imported since, half of them after ${roomMs} ms`);
    failures.check(data.stored.size >= half, `${victims.length} deletions made room for ${gained} objects`);
    await run.killAndLaunch();
    await run.check("after deletions and a kill");

    await run.checkReadOnly(Math.max(128, Math.floor(mib * 0.5)) * MIB);
    await run.check("while read-only");
    await server.restart();
    await run.check("at the end");
    failures.check(group.kills === 0, `the kernel killed ${group.kills} processes`);
    return {
      figures: {
        "objects until refused": first,
        "slowest start after a kill (ms)": Math.max(...readyMs),
        deleted: victims.length,
        "imported into their room": gained,
        "processes killed for memory": group.kills,
        failures: failures.count,
      },
      failures: failures.lines,
    };
  },
};

class MemoryRun {
  constructor(
    readonly server: ServerProcess,
    readonly data: WideData,
    readonly failures: Failures,
    readonly random: () => number,
    readonly fullMs: number,
  ) {}

  /** Imports until that is refused, and has been for a while; the first message of those. */
  async fill(): Promise<string> {
    let refusal = "";
    let refusedMs = 0;
    for (;;) {
      const message = await this.data.importBatch(BATCH);
      if (message === undefined) {
        refusedMs = 0;
        continue;
      }
      if (refusedMs === 0) [refusal, refusedMs] = [message, performance.now()];
      if (performance.now() - refusedMs > this.fullMs) return refusal;
      await pause(200);
    }
  }

  /** Of one object: 429 that says when to come again. Freed memory may let some in before. */
  async checkRefusedPost(): Promise<void> {
    const { http } = this.server;
    for (let attempt = 0; attempt < 2_000; attempt++) {
      const { n, body } = this.data.next();
      const answer = await http.post("/v1/objects", body);
      if (answer.status === 200) {
        this.data.stored.add(n);
        continue;
      }
      const retryAfter = Number(answer.headers.get("retry-after"));
      const isRight = answer.status === 429 && retryAfter >= 1 && /MEMORY_BUDGET_BYTES/.test(String(errorOf(answer)));
      this.failures.check(isRight, `a POST gave ${answer.status} ${retryAfter} ${answer.text.slice(0, 200)}`);
      return;
    }
    this.failures.add("no POST was refused");
  }

  async killAndLaunch(): Promise<number> {
    await this.server.kill();
    const begun = performance.now();
    await this.server.launch();
    return Math.round(performance.now() - begun);
  }

  /** Everything that was acknowledged is there, what was deleted is not. */
  async check(when: string): Promise<void> {
    const { data, failures } = this;
    failures.check(this.server.running, `the process ended ${when}`);
    const count = await data.countStored();
    failures.check(count === data.stored.size, `${count} objects of ${data.stored.size} ${when}`);
    const stored = [...data.stored];
    const sample = Array.from({ length: SAMPLE }, () => stored[Math.floor(this.random() * stored.length)] ?? 0);
    for (const n of sample) {
      const fault = await data.faultOf(n);
      failures.check(fault === "", `${fault} ${when}`);
    }
    for (const n of sample.slice(0, 5)) {
      const nearest = await data.nearest(n, 10);
      const areStored = nearest.length === 10 && nearest.every((one) => data.stored.has(Number(one)));
      failures.check(areStored, `nearest to ${n} ${when}: ${nearest}`);
    }
  }

  /** Milliseconds until so many objects are stored: an index is rebuilt meanwhile, on a busy machine within some seconds. */
  async untilStored(objects: number): Promise<number> {
    const begun = performance.now();
    while (this.data.stored.size < objects && performance.now() - begun < ROOM_TIMEOUT_MS) {
      if ((await this.data.importBatch(BATCH)) !== undefined) await pause(200);
    }
    return Math.round(performance.now() - begun);
  }

  /** With less than the data takes: it starts, says that it is read-only, and takes deletions. */
  async checkReadOnly(budgetBytes: number): Promise<void> {
    const { data, failures, server } = this;
    // What a cache may still take counts as used.
    await server.restart({ MEMORY_BUDGET_BYTES: String(budgetBytes), ROW_CACHE_BYTES: String(budgetBytes / 2) });
    const [first = 0, second = 0] = data.stored;
    const path = `/v1/objects/${data.idOf(first)}`;
    const patched = await server.http.patch(path, { class: WIDE_CLASS, properties: { n: first } });
    const isRefused = patched.status === 429 && /read-only .*MEMORY_BUDGET_BYTES/.test(String(errorOf(patched)));
    failures.check(isRefused, `a PATCH with a small budget gave ${patched.status} ${patched.text.slice(0, 300)}`);
    const made = await server.http.post("/v1/schema", { class: "Another", vectorizer: "none" });
    const isNone = made.status === 429 && /MEMORY_BUDGET_BYTES/.test(String(errorOf(made)));
    failures.check(isNone, `a class with a small budget gave ${made.status} ${made.text.slice(0, 300)}`);
    const nodes = await server.http.get("/v1/nodes?output=verbose");
    const status = at(nodes.json, "nodes", 0, "shards", 0, "vectorIndexingStatus");
    failures.check(status === "READONLY", `the shard is ${status} with a small budget`);
    const reason = String(at(nodes.json, "nodes", 0, "shards", 0, "reason"));
    failures.check(/MEMORY_BUDGET_BYTES/.test(reason), `the node does not say why: ${reason}`);
    failures.check((await data.delete([second])) === 0, "a deletion was refused with a small budget");
  }
}
