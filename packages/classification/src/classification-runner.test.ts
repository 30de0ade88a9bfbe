import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  DEFAULT_WHERE_LIMITS,
  type RightsHolder,
  ShoalError,
  SPEC_PROFILE,
  UnavailableHere,
  withPrefix,
} from "@shoal/model";
import { NO_ENABLED_MODULES } from "@shoal/module-api";
import type { FilterParts } from "@shoal/query";
import type { ClassRecord, Job, JobClaim, JobService, SchemaSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import { ClassificationRunner } from "./classification-runner.js";

const ANN: RightsHolder = { username: "ann", groups: [], userType: "db", sinceMs: 5 };
const RECORD = { definition: { class: "Item", properties: [] }, classId: "item" } as unknown as ClassRecord;
const JOB = {
  ...{ id: "job", className: "Item", classId: "item" },
  request: { type: "knn", class: "Item", classifyProperties: [], basedOnProperties: [], startedBy: ANN },
} as unknown as Job;

/** Runs a job until it is given back; `thrown`: what the question for rights fails with; `failures`: so often nobody says what has become of it. */
async function outcomeOf(thrown: ShoalError, statusAfter: Job["status"] = "running", failures = 0) {
  let failuresLeft = failures;
  const reported: unknown[] = [];
  let end = (): void => {};
  let onFailure = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // What it does with the response, too.
  const failed = new Promise<void>((resolve) => {
    onFailure = resolve;
  });
  const claims = [{ job: JOB, range: 0, token: 1, leaseMs: 60_000, progress: { after: "" } } as unknown as JobClaim];
  const jobs: Partial<JobService> = {
    watch: (listener) => {
      listener({ openRanges: 1, version: 1 });
      return { [Symbol.dispose]: () => {} };
    },
    claim: async () => claims.pop(),
    abort: async (_, error) => {
      reported.push(`abort ${error}`);
      end();
    },
    report: async ({ state, isOnlyHere }) => {
      reported.push(isOnlyHere === true ? `${state} here` : state);
      void failed.then(end);
    },
    find: async () => {
      if (failuresLeft-- > 0) throw new ShoalError("unavailable", "no coordinator");
      return { ...JOB, status: statusAfter };
    },
  };
  const snapshot = { version: 1 } as SchemaSnapshot;
  const view = { refresh: async () => {}, classRecord: () => RECORD, snapshot } as Partial<SchemaView> as SchemaView;
  const parts = { view, router: {} as ShardRouter, filters: {} as FilterParts, modules: NO_ENABLED_MODULES };
  await using _runner = new ClassificationRunner({
    ...{ ...parts, jobs: jobs as JobService, worker: "w", nowMs: () => 1 },
    onFailure: ({ message }) => {
      if (message !== "no coordinator") onFailure();
    },
    ...{ whereLimits: DEFAULT_WHERE_LIMITS, profile: SPEC_PROFILE },
    rightsOf: async () => {
      throw thrown;
    },
    onForbidden: (job, startedBy, error) => reported.push([job.id, job.className, startedBy, error.message]),
  });
  await ended;
  return reported;
}

it("S-roles: tells who has lost the right to a job, which ends; what may be known later is postponed", async () => {
  expect(await outcomeOf(new ShoalError("forbidden", "lacks it"))).toEqual([
    ["job", "Item", ANN, "lacks it"],
    "abort lacks it",
  ]);
  expect(await outcomeOf(new ShoalError("unavailable", "not known"))).toEqual(["postponed"]);
  expect(await outcomeOf(new UnavailableHere("not known here"))).toEqual(["postponed here"]);
  expect(await outcomeOf(withPrefix("prepare: ", new UnavailableHere("not known here")))).toEqual(["postponed here"]);
  expect(await outcomeOf(new ShoalError("invalid", "wrong"))).toEqual(["abort wrong"]);
});

it("S8: tells whose job the half-hour rule ends, when no gateway has known him; not of what ends for another reason", async () => {
  expect(await outcomeOf(new UnavailableHere("not known here"), "aborted")).toEqual([
    "postponed here",
    ["job", "Item", ANN, "not known here"],
  ]);
  expect(await outcomeOf(new UnavailableHere("not known here"), "aborted", 1)).toEqual([
    "postponed here",
    ["job", "Item", ANN, "not known here"],
  ]);
  expect(await outcomeOf(new ShoalError("unavailable", "a node is away"), "aborted")).toEqual(["postponed"]);
});
