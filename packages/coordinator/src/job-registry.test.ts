import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ClassDefinition, ShoalError } from "@shoal/model";
import type { JobClaim, JobService, NewJob, RangeProgress } from "@shoal/rpc";
import { connectCoordinator, createRpcServer } from "@shoal/rpc/grpc";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import { afterEach, describe, expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { JobRegistry } from "./job-registry.js";
import { Ledger } from "./ledger.js";
import { NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { idRanges } from "./stored-jobs.js";
import { confirmingHolders } from "./testing/confirming-holders.js";
import { deleteClass } from "./testing/delete-class.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

interface World {
  readonly schema: SchemaCoordinator;
  readonly jobs: JobService;
  readonly clock: { now: number };
}

/** Another way to the same jobs. */
type Way = (registry: JobRegistry) => Promise<JobService>;

const ends: (() => PromiseLike<void> | void)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

async function overGrpc(jobs: JobRegistry): Promise<JobService> {
  const now = () => Date.now();
  const server = await createRpcServer({ jobs }, { host: "127.0.0.1", port: 0, now });
  const coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  ends.push(() => server[Symbol.asyncDispose]());
  ends.push(() => coordinator[Symbol.dispose]());
  return coordinator.jobs;
}

async function openWorld(way: Way, disk = new MemoryStore(), clock = { now: 1_000 }): Promise<World> {
  const ledger = await Ledger.open(await EmbeddedMetaStore.open(disk, () => "history"), Date.now);
  confirmingHolders(ledger);
  await new NodeRegistry(ledger, 1).register(
    { name: "a", address: undefined, shoalVersion: "1", gitHash: "" },
    context,
  );
  let ids = 0;
  const schema = new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 1,
    createSharding: (_, nodeNames) =>
      createShardingState({ desiredCount: 1, virtualPerPhysical: 1, nodeNames }, (count) => Buffer.alloc(count, ++ids)),
    newClassId: () => `id${++ids}`,
    limits: { classesMax: 10, propertiesPerClassMax: 10 },
    shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
  });
  return { schema, jobs: await way(new JobRegistry({ ledger, nowMs: () => clock.now, leaseMs: 100 })), clock };
}

async function withClass(world: World): Promise<string> {
  const definition = { class: "Doc", properties: [], shardingConfig: { desiredCount: 1 } } as never as ClassDefinition;
  return (await world.schema.addClass(definition, context)).classId;
}

function job(classId: string, ranges = 1, id = "job"): NewJob {
  return { id, className: "Doc", classId, request: { type: "knn" }, ranges };
}

function progress(succeeded: number, after = "", failed = 0): RangeProgress {
  return { after, pendingUpTo: "", counts: { succeeded, failed, errors: failed > 0 ? ["no"] : [] } };
}

const keyOf = ({ job: { id }, range, token }: JobClaim) => ({ jobId: id, range, token });

async function claimed(world: World, worker: string): Promise<JobClaim> {
  const claim = await world.jobs.claim(worker, context);
  if (claim === undefined) throw new Error("nothing to claim");
  return claim;
}

describe.each<[string, Way]>([
  ["in the process", async (registry) => registry],
  ["over gRPC", overGrpc],
])("JobRegistry %s", (_name, way) => {
  const open = (disk?: MemoryStore, clock?: { now: number }) => openWorld(way, disk, clock);

  test("a job is claimed range by range, and done when all are; also over restarts", async () => {
    const disk = new MemoryStore();
    const world = await open(disk);
    await world.jobs.create(job(await withClass(world), 2), context);
    const first = await claimed(world, "a");
    const second = await claimed(world, "b");
    expect([first.range, second.range]).toEqual([0, 1]);
    expect(first.upTo).toBe(second.progress.after);
    expect(await world.jobs.claim("c", context)).toBeUndefined();
    await world.jobs.report({ ...keyOf(first), progress: progress(3), state: "done" }, context);
    await world.jobs.report({ ...keyOf(second), progress: progress(1, "x"), state: "working" }, context);
    const again = await open(disk, world.clock);
    expect(await again.jobs.find("job", context)).toMatchObject({ status: "running", counts: { succeeded: 3 } });
    const resumed = await claimed(again, "b");
    expect(resumed.progress).toEqual(progress(1, "x"));
    world.clock.now = 2_000;
    await again.jobs.report({ ...keyOf(resumed), progress: progress(4, "y", 1), state: "done" }, context);
    expect(await again.jobs.find("job", context)).toMatchObject({
      ...{ status: "done", startedMs: 1_000, endedMs: 2_000 },
      counts: { succeeded: 7, failed: 1, errors: ["no"] },
    });
    expect(await again.jobs.claim("a", context)).toBeUndefined();
  });

  test("a lease that has run out is somebody else's, and its former holder is refused", async () => {
    const world = await open();
    await world.jobs.create(job(await withClass(world)), context);
    const lost = await claimed(world, "a");
    world.clock.now += 99;
    await world.jobs.report({ ...keyOf(lost), progress: progress(1, "m"), state: "working" }, context);
    world.clock.now += 99;
    expect(await world.jobs.claim("b", context)).toBeUndefined();
    world.clock.now += 1;
    const taken = await claimed(world, "b");
    expect(taken.progress.after).toBe("m");
    for (const state of ["working", "done", "released"] as const) {
      const late = world.jobs.report({ ...keyOf(lost), progress: progress(9), state }, context);
      await expect(late).rejects.toMatchObject({ code: "conflict" });
    }
    await expect(world.jobs.abort(keyOf(lost), "no", context)).rejects.toMatchObject({ code: "conflict" });
    await world.jobs.report({ ...keyOf(taken), progress: progress(2, "n"), state: "released" }, context);
    expect((await claimed(world, "c")).progress).toEqual(progress(2, "n"));
  });

  test("a job that cannot go on lets others go first, and ends when it has got nowhere for half an hour", async () => {
    const world = await open();
    const classId = await withClass(world);
    const postpone = (claim: JobClaim, at = claim.progress) =>
      world.jobs.report({ ...keyOf(claim), progress: at, state: "postponed", reason: "the service is away" }, context);
    await world.jobs.create(job(classId, 2, "stuck"), context);
    await world.jobs.create(job(classId, 1, "other"), context);
    await postpone(await claimed(world, "a"), progress(3, "c"));
    const other = await claimed(world, "a");
    expect(other.job.id).toBe("other");
    expect(await world.jobs.claim("b", context)).toBeUndefined();
    await world.jobs.report({ ...keyOf(other), progress: progress(1), state: "done" }, context);
    const tryAgain = async (afterMs: number): Promise<JobClaim> => {
      world.clock.now += afterMs;
      const claim = await claimed(world, "a");
      expect(claim.job.id).toBe("stuck");
      return claim;
    };
    const again = await tryAgain(10_000);
    expect(again.progress).toEqual(progress(3, "c"));
    // What is done counts from then on.
    world.clock.now += 20 * 60_000;
    await world.jobs.report({ ...keyOf(again), progress: progress(4, "d"), state: "working" }, context);
    await postpone(again, progress(4, "d"));
    // Nobody has tried in between: that does not count.
    await postpone(await tryAgain(40 * 60_000));
    for (let minutes = 0; minutes < 30; minutes += 10) {
      expect(await world.jobs.find("stuck", context)).toMatchObject({ status: "running" });
      await postpone(await tryAgain(10 * 60_000));
    }
    expect(await world.jobs.find("stuck", context)).toMatchObject({ status: "aborted", error: "the service is away" });
    expect(await world.jobs.claim("a", context)).toBeUndefined();
  });

  test("a job that one worker cannot go on with is the others', until nobody can for half an hour", async () => {
    const world = await open();
    const classId = await withClass(world);
    await world.jobs.create(job(classId, 2, "stuck"), context);
    await world.jobs.create(job(classId, 1, "other"), context);
    const postpone = (claim: JobClaim) => {
      const reason = "not known here";
      return world.jobs.report(
        { ...keyOf(claim), progress: claim.progress, state: "postponed", reason, isOnlyHere: true },
        context,
      );
    };
    await postpone(await claimed(world, "a"));
    const theirs = await claimed(world, "b");
    expect(theirs.job.id).toBe("stuck");
    const other = await claimed(world, "a");
    expect(other.job.id).toBe("other");
    await world.jobs.report({ ...keyOf(other), progress: progress(1), state: "done" }, context);
    // That it goes on elsewhere makes it no other for who cannot.
    await world.jobs.report({ ...keyOf(theirs), progress: progress(3, "c"), state: "working" }, context);
    await world.jobs.report({ ...keyOf(theirs), progress: progress(4, "d"), state: "released" }, context);
    expect(await world.jobs.claim("a", context)).toBeUndefined();
    world.clock.now += 10_000;
    const claim = await claimed(world, "a");
    expect(claim.job.id).toBe("stuck");
    await world.jobs.report({ ...keyOf(claim), progress: progress(0), state: "released" }, context);
    for (let minutes = 0; minutes <= 30; minutes += 10) {
      expect(await world.jobs.find("stuck", context)).toMatchObject({ status: "running" });
      for (const worker of ["d", "e"]) {
        const tried = await claimed(world, worker);
        expect(tried.job.id).toBe("stuck");
        await postpone(tried).catch((error) => expect([minutes, error.code]).toEqual([30, "conflict"]));
        if ((await world.jobs.find("stuck", context))?.status !== "running") break;
      }
      world.clock.now += 10 * 60_000;
    }
    expect(await world.jobs.find("stuck", context)).toMatchObject({ status: "aborted", error: "not known here" });
  });

  test("a job of which less is done goes first", async () => {
    const world = await open();
    const classId = await withClass(world);
    await world.jobs.create(job(classId, 3, "large"), context);
    const first = await claimed(world, "a");
    await world.jobs.create(job(classId, 1, "small"), context);
    await world.jobs.report({ ...keyOf(first), progress: progress(5_000), state: "done" }, context);
    const order: string[] = [];
    for (let range = 0; range < 3; range++) {
      const claim = await claimed(world, "a");
      order.push(claim.job.id);
      await world.jobs.report({ ...keyOf(claim), progress: progress(1), state: "done" }, context);
    }
    expect(order).toEqual(["small", "large", "large"]);
  });

  test("a job ends with its class, also when another one gets its name", async () => {
    const world = await open();
    const classId = await withClass(world);
    await world.jobs.create(job(classId, 1, "worked-on"), context);
    const claim = await claimed(world, "a");
    await world.jobs.create(job(classId, 3, "waiting"), context);
    await deleteClass(world.schema, "Doc", context);
    await withClass(world);
    // Also before somebody looks for work.
    expect(await world.jobs.find("waiting", context)).toMatchObject({
      status: "aborted",
      error: "class 'Doc' was deleted",
    });
    const report = world.jobs.report({ ...keyOf(claim), progress: progress(1), state: "working" }, context);
    await expect(report).rejects.toMatchObject({ code: "conflict" });
    expect(await world.jobs.claim("a", context)).toBeUndefined();
    for (const id of ["worked-on", "waiting"]) {
      expect(await world.jobs.find(id, context)).toMatchObject({ status: "aborted", error: "class 'Doc' was deleted" });
    }
    await expect(world.jobs.create(job(classId, 1, "late"), context)).rejects.toMatchObject({ code: "notFound" });
  });

  test("is told of open ranges, and leaves the schema's version alone", async () => {
    const world = await open();
    const classId = await withClass(world);
    const { version } = await world.schema.current(context);
    const seen: number[] = [];
    using _ = world.jobs.watch(({ openRanges }) => seen.push(openRanges));
    const made = await world.jobs.create(job(classId, 2), context);
    expect(await world.jobs.create(job(classId, 2), context)).toEqual(made);
    await world.jobs.abort(keyOf(await claimed(world, "a")), "broken", context);
    await expect.poll(() => seen.at(-1)).toBe(0);
    expect([[0, 2, 0], [2, 0], [0]]).toContainEqual(seen);
    expect(await world.jobs.find("job", context)).toMatchObject({ status: "aborted", error: "broken" });
    expect((await world.schema.current(context)).version).toBe(version);
  });

  test("too many at once are refused, and old ones make room", async () => {
    const world = await open();
    const classId = await withClass(world);
    for (let at = 0; at < 100; at++) await world.jobs.create(job(classId, 1, `job${at}`), context);
    const more = world.jobs.create(job(classId, 1, "more"), context);
    await expect(more).rejects.toMatchObject({ code: "overloaded" });
    await world.jobs.abort(keyOf(await claimed(world, "a")), "done with", context);
    await world.jobs.create(job(classId, 1, "more"), context);
  });

  test("S10: one user has at most half of what others leave, and those without one have all", async () => {
    const world = await open();
    const classId = await withClass(world);
    let made = 0;
    const takes = async (owner: string | undefined): Promise<number> => {
      for (let count = 0; ; count++) {
        const next = { ...job(classId, 1, `job${made++}`), ...(owner === undefined ? {} : { owner }) };
        const failure = await world.jobs.create(next, context).catch((thrown: unknown) => thrown);
        if (!(failure instanceof ShoalError)) continue;
        expect(failure.code).toBe("overloaded");
        return count;
      }
    };
    expect(await takes("db/ann")).toBe(50);
    expect(await takes("oidc/ann")).toBe(25);
    expect(await takes("db/ann")).toBe(0);
    expect(await takes("db/bob")).toBe(12);
    const last = [];
    for (let user = 0; user < 20; user++) last.push(await takes(`db/u${user}`));
    expect(last.slice(0, 9)).toEqual([6, 3, 2, 1, 1, 0, 0, 0, 0]);
    expect(await takes(undefined)).toBe(0);
  });

  test("S10: of jobs that have ended, the oldest of the user with the most make room", async () => {
    const world = await open();
    const classId = await withClass(world);
    const end = async (id: string, owner: string) => {
      await world.jobs.create({ ...job(classId, 1, id), owner }, context);
      await world.jobs.abort(keyOf(await claimed(world, "a")), "over", context);
    };
    await end("bob", "db/bob");
    for (let at = 0; at < 1_002; at++) await end(`ann${at}`, "db/ann");
    await end("bob2", "db/bob");
    const isThere = async (id: string) => (await world.jobs.find(id, context)) !== undefined;
    const kept = await Promise.all(["bob", "bob2", "ann0", "ann1", "ann1001"].map(isThere));
    expect(kept).toEqual([true, true, false, false, true]);
  }, 120_000);

  test(`whoever works on it and whoever is lost: each range is counted once (seed ${SEED})`, async () => {
    const { below } = seededRandom(SEED);
    for (let round = 0; round < 6; round++) {
      const world = await open();
      const ranges = 1 + below(6);
      await world.jobs.create(job(await withClass(world), ranges), context);
      const held = new Map<string, JobClaim>();
      for (let step = 0; step < 1_000 && (await world.jobs.find("job", context))?.status === "running"; step++) {
        const worker = `w${below(4)}`;
        const claim = held.get(worker);
        world.clock.now += below(60);
        if (claim === undefined) {
          const next = await world.jobs.claim(worker, context);
          if (next !== undefined) held.set(worker, next);
          continue;
        }
        const done = claim.progress.counts.succeeded + 1;
        const reported = { ...claim, progress: progress(done) };
        // A range has ten items; each report counts one more.
        const end = done === 10 ? "done" : below(8) === 0 ? "released" : "working";
        const isKept = await world.jobs
          .report({ ...keyOf(claim), progress: reported.progress, state: end }, context)
          .then(
            () => true,
            () => false,
          );
        if (isKept && end === "working" && below(10) > 0) held.set(worker, reported);
        else held.delete(worker);
      }
      expect(await world.jobs.find("job", context)).toMatchObject({
        status: "done",
        counts: { succeeded: 10 * ranges },
      });
    }
  });
});

test("ranges of ids follow each other and are about equally large", () => {
  for (const count of [1, 2, 3, 7, 64, 256]) {
    const ranges = idRanges(count);
    expect(ranges.map(({ upTo }) => upTo).slice(0, -1)).toEqual(ranges.map(({ after }) => after).slice(1));
    expect([ranges[0]?.after, ranges.at(-1)?.upTo]).toEqual(["", ""]);
    const starts = ranges.map(({ after }) => (after === "" ? 0 : Number.parseInt(after.slice(0, 2), 16) + 1));
    const sizes = starts.map((start, at) => (starts[at + 1] ?? 256) - start);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  }
});
