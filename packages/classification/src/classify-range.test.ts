import {
  type ClassAction,
  type ClassRights,
  type ObjectId,
  type RightsHolder,
  referenceTo,
  ShoalError,
  SPEC_PROFILE,
  UnavailableHere,
} from "@shoal/model";
import type { PreparedClassifier } from "@shoal/module-api";
import type { ClassRecord, Job, JobService, RangeProgress, RangeReport } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { ClaimedRange } from "./claimed-range.js";
import { ClassificationRun, type PreparedRun, type RunParts } from "./classification-run.js";
import { classifyRange } from "./classify-range.js";
import { MemoryItems } from "./memory-items.fixture.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_261_120);
const UNUSED = undefined as never;
const OWN = "00000000-0000-4000-8000-0000000000aa" as ObjectId;
const CLIENTS = "00000000-0000-4000-8000-0000000000bb" as ObjectId;
const KILLED = new ShoalError("internal", "killed");

const record: ClassRecord = {
  definition: {
    class: "Item",
    properties: [{ name: "label", dataType: ["Label"] }],
  } as unknown as ClassRecord["definition"],
  ...{ sharding: UNUSED, classId: "item", dimensions: 1 },
};

const job: Job = {
  ...{ id: "00000000-0000-4000-8000-000000000001", className: "Item", classId: "item", status: "running" },
  ...{ startedMs: 1, endedMs: undefined, error: undefined },
  counts: { succeeded: 0, failed: 0, errors: [] },
  request: { type: "knn", class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"] },
};

/** Items of one range, and whoever works on it: one after the other is killed until the range is done. */
class World {
  readonly shards = new MemoryItems(record);
  readonly reports: RangeReport[] = [];
  progress: RangeProgress = { after: "", pendingUpTo: "", counts: job.counts };
  /** Items that are looked at side by side, and the most of them. */
  busy = 0;
  busiest = 0;
  isDone = false;
  nowMs = () => Date.now();
  job = job;
  rightsOf: RunParts["rightsOf"];

  constructor(
    readonly classify: (id: ObjectId) => ObjectId | undefined,
    readonly upTo = "",
  ) {}

  async work(): Promise<void> {
    const jobs = {
      report: async (report: RangeReport) => {
        this.reports.push(report);
        this.progress = report.progress;
        this.isDone = report.state === "done";
      },
    } as Partial<JobService> as JobService;
    const claim = { job: this.job, range: 0, token: 1, upTo: this.upTo, progress: this.progress, leaseMs: 60_000 };
    using range = new ClaimedRange(claim, { jobs, nowMs: () => 1, stopped: new AbortController().signal });
    await classifyRange(this.#prepared(), range, this.nowMs);
  }

  #prepared(): PreparedRun {
    const parts = { router: this.shards, profile: SPEC_PROFILE };
    const others = { view: UNUSED, filters: UNUSED, modules: UNUSED, whereLimits: UNUSED };
    const run = new ClassificationRun({ ...parts, ...others, rightsOf: this.rightsOf }, this.job, record);
    const classifier: PreparedClassifier = {
      classify: async ({ id }) => {
        this.busiest = Math.max(this.busiest, ++this.busy);
        await Promise.resolve();
        this.busy--;
        const target = this.classify(id);
        return target === undefined
          ? []
          : [{ property: "label", target: { id: target, className: "Label" }, meta: {} }];
      },
    };
    return { run, source: run.labelled(false)[0], classifier };
  }
}

function idOf(number: number): ObjectId {
  return `${((number * 2_654_435_761) >>> 0).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;
}

it("holds a chunk of items at a time, announced before it is written", async () => {
  const world = new World(() => OWN, "bfffffff-ffff-ffff-ffff-ffffffffffff");
  const ids = Array.from({ length: 2_030 }, (_, at) => idOf(at));
  for (const id of ids) world.shards.set(id, { text: "x" });
  world.shards.before = (method) => {
    if (method !== "merge") return;
    const { after, pendingUpTo } = world.progress;
    const written = [...world.shards.merged.keys()];
    expect(written.every((id) => id <= pendingUpTo)).toBe(true);
    expect(pendingUpTo > after).toBe(true);
  };
  await world.work();
  const inRange = ids.filter((id) => id <= world.upTo);
  expect([...world.shards.merged.keys()].sort()).toEqual([...inRange].sort());
  expect(world.progress.counts).toEqual({ succeeded: inRange.length, failed: 0, errors: [] });
  expect(world.isDone).toBe(true);
  expect(world.shards.largest).toBeLessThanOrEqual(100);
  expect(world.busiest).toBeLessThanOrEqual(8);
  const label = world.shards.get(inRange[0] ?? OWN)?.properties?.label;
  expect(label).toEqual([{ ...referenceTo(OWN, "svc"), classification: {} }]);
});

it("gives up when failures that pass do not pass for five seconds, and not before", async () => {
  for (const failures of [2, 3]) {
    let attempts = 0;
    const world = new World(() => {
      attempts++;
      if (attempts <= failures) throw new ShoalError("unavailable", "the service is away");
      return OWN;
    });
    world.nowMs = () => attempts * 2_500;
    world.shards.set(idOf(1), {});
    const work = world.work();
    if (failures === 2) await work;
    else await expect(work).rejects.toMatchObject({ code: "unavailable", message: "the service is away" });
    expect(world.isDone).toBe(failures === 2);
  }
});

it("keeps what was done of a chunk when a service has too much to do", async () => {
  const calls = new Map<ObjectId, number>();
  const refused = new Set([idOf(20), idOf(60)]);
  const world = new World((id) => {
    calls.set(id, (calls.get(id) ?? 0) + 1);
    if (refused.delete(id)) throw new ShoalError("overloaded", "too many requests");
    return OWN;
  });
  for (let at = 0; at < 90; at++) world.shards.set(idOf(at), {});
  await world.work();
  expect(world.progress.counts).toEqual({ succeeded: 90, failed: 0, errors: [] });
  expect([...world.shards.merged.values()].every((times) => times === 1)).toBe(true);
  expect([...calls].filter(([, times]) => times > 1).map(([id]) => id)).toEqual(
    expect.arrayContaining([idOf(20), idOf(60)]),
  );
  expect([...calls.values()].reduce((sum, times) => sum + times, 0)).toBe(92);
});

it("leaves an item to the client who has labelled it since it was read", async () => {
  const world = new World(() => OWN);
  const [labelled, deleted, other] = [idOf(1), idOf(2), idOf(3)];
  for (const id of [labelled, deleted, other]) world.shards.set(id, {});
  world.shards.before = (method) => {
    if (method !== "merge" || !world.shards.isOpen(labelled)) return;
    world.shards.set(labelled, { label: [referenceTo(CLIENTS, "svc")] });
    world.shards.delete(deleted);
  };
  await world.work();
  expect(world.shards.get(labelled)).toMatchObject({
    properties: { label: [referenceTo(CLIENTS, "svc")] },
    extras: undefined,
  });
  expect([...world.shards.merged.keys()]).toEqual([other]);
  expect(world.progress.counts).toEqual({ succeeded: 1, failed: 0, errors: [] });
});

it(`counts each item once, whoever is killed and whatever clients do (seed ${SEED})`, async () => {
  let [kills, kept, repeated, failures] = [0, 0, 0, 0];
  for (let round = 0; round < 40; round++) {
    const random = seededRandom(SEED + round).next;
    const fails = (id: ObjectId) => id[3] === "7";
    const world = new World((id) => {
      if (fails(id)) throw new ShoalError("invalid", "it fails");
      return id[4] === "5" ? undefined : OWN;
    });
    const { shards } = world;
    const ids = Array.from({ length: Math.floor(random() * 500) }, (_, at) => idOf(at));
    const byClients = new Set<ObjectId>();
    const clientLabels = (id: ObjectId) => {
      const item = shards.get(id);
      // What a job has written before may be changed; that says nothing about the job.
      if (item === undefined || shards.merged.has(id) || fails(id)) return;
      shards.set(id, { label: [referenceTo(CLIENTS, "svc")] });
      byClients.add(id);
    };
    for (const id of ids) {
      shards.set(id, random() < 0.5 ? {} : { label: [] });
      if (random() < 0.2) clientLabels(id);
    }
    shards.before = (method) => {
      if (random() < 0.12) {
        kills++;
        throw KILLED;
      }
      if (method !== "merge") return;
      for (const id of ids) {
        if (random() < 0.03) clientLabels(id);
        else if (random() < 0.01 && !shards.merged.has(id) && !fails(id) && shards.delete(id)) byClients.delete(id);
      }
    };
    shards.repeats = () => {
      if (random() < 0.1) {
        kills++;
        throw KILLED;
      }
      if (random() < 0.7) return false;
      repeated++;
      return true;
    };
    for (let attempts = 0; !world.isDone; attempts++) {
      expect(attempts).toBeLessThan(200);
      await world.work().catch(({ message }: Error) => expect(message).toContain(KILLED.message));
    }
    const left = shards.ids();
    for (const id of byClients) {
      kept++;
      expect(shards.get(id)?.properties?.label).toEqual([referenceTo(CLIENTS, "svc")]);
    }
    const failed = left.filter((id) => fails(id) && shards.isOpen(id)).length;
    failures += failed;
    const classified = left.filter((id) => !byClients.has(id) && !fails(id));
    expect([...shards.merged.keys()].sort(), `round ${round}`).toEqual(classified.sort());
    const { counts } = world.progress;
    expect(counts, `round ${round}`).toMatchObject({ succeeded: classified.length, failed });
  }
  expect(Math.min(kills, kept, repeated, failures)).toBeGreaterThan(20);
});

describe("S-roles: what its starter may do counts as long as it goes on", () => {
  const ANN: RightsHolder = { username: "ann", groups: [], userType: "db", sinceMs: 5 };

  /** `lost`: the first right that she lacks from now on. */
  function worldOf(onClassify: (merged: number) => void) {
    const world: World = new World(() => {
      onClassify(world.shards.merged.size);
      return OWN;
    });
    let lost: readonly [ClassAction, string] | undefined;
    world.job = { ...job, request: { ...job.request, startedBy: ANN as never } };
    world.rightsOf = async (holder) => {
      expect(holder).toEqual(ANN);
      const isLost = (action: ClassAction, className: string) => lost?.[0] === action && lost[1] === className;
      return {
        require: (action: ClassAction, className: string) => {
          if (isLost(action, className)) throw new ShoalError("forbidden", `ann lacks ${action} of ${className}`);
        },
      } as ClassRights;
    };
    for (let at = 0; at < 250; at++) world.shards.set(idOf(at), {});
    const lose = (action: ClassAction, className: string) => {
      lost = [action, className];
    };
    return { world, lose };
  }

  it.each([
    ["update_data", "Item"],
    ["read_data", "Item"],
    ["read_data", "Label"],
  ] as const)("%s of %s is taken away: nothing is written after that", async (action, className) => {
    for (const from of [0, 100]) {
      const { world, lose } = worldOf((merged) => {
        if (merged >= from) lose(action, className);
      });
      const failure = { code: "forbidden", message: `ann lacks ${action} of ${className}` };
      await expect(world.work()).rejects.toMatchObject(failure);
      expect(world.shards.merged.size).toBe(from);
      // Whoever goes on with it finds the same.
      await expect(world.work()).rejects.toMatchObject(failure);
      expect(world.shards.merged.size).toBe(from);
    }
  });

  it("with all of them it goes on to its end; while nobody knows them, it waits", async () => {
    const { world } = worldOf(() => {});
    const known = world.rightsOf;
    let asked = 0;
    world.rightsOf = async (...asking) => {
      if (asked++ === 1 || known === undefined) throw new ShoalError("unavailable", "no coordinator has answered");
      return known(...asking);
    };
    await world.work();
    expect(world.shards.merged.size).toBe(250);
  });

  it("a process that cannot tell gives it to others at once, without doing anything again", async () => {
    let classified = 0;
    const { world } = worldOf(() => {
      classified++;
    });
    const known = world.rightsOf;
    let asked = 0;
    world.rightsOf = async (...asking) => {
      if (++asked > 1 || known === undefined) throw new UnavailableHere("not known here");
      return known(...asking);
    };
    await expect(world.work()).rejects.toBeInstanceOf(UnavailableHere);
    expect([asked, classified, world.shards.merged.size]).toEqual([2, 100, 0]);
  });

  it("one that nobody is known to have started is not carried out where roles are on", async () => {
    const { world } = worldOf(() => {});
    world.job = job;
    await expect(world.work()).rejects.toThrow(
      "roles are on, and this classification of class 'Item' was started when they were off",
    );
    expect(world.shards.merged.size).toBe(0);
  });
});
