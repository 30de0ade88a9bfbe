import { ShoalError } from "@shoal/model";
import type { ClaimKey, NewJob, RangeReport } from "../job-service.js";
import { list, members, nonEmpty, object, oneOf, optional, readJson, text, whole } from "./json-shape.js";

/** A part of keys in the coordinator's store. */
const ID_CHARS = /^[0-9A-Za-z-]{1,64}$/;

const COUNTS = members({ succeeded: whole(0), failed: whole(0), errors: list(text, 1_000) });
const KEY = { jobId: nonEmpty, range: whole(0, 65_535), token: whole(0) };

const NEW_JOB = members({
  id: (value, member) => {
    nonEmpty(value, member);
    if (!ID_CHARS.test(String(value))) throw new ShoalError("invalid", `${member} must be a uuid`);
  },
  className: nonEmpty,
  classId: nonEmpty,
  request: object,
  owner: optional(text),
  ranges: whole(1, 65_536),
});

const REPORT = members({
  ...KEY,
  progress: members({ after: text, pendingUpTo: text, counts: COUNTS }),
  state: oneOf("working", "done", "released", "postponed"),
  reason: optional(text),
});

/** Fails with `invalid`, as all that follow, naming the member that is no part of a job. */
export function readNewJob(json: Buffer): NewJob {
  return readJson(json, "job", NEW_JOB) as NewJob;
}

export function readRangeReport(json: Buffer): RangeReport {
  return readJson(json, "report", REPORT) as RangeReport;
}

export function readClaimKey(json: Buffer): ClaimKey {
  return readJson(json, "claim", members(KEY)) as ClaimKey;
}

/** Who works: two that have no name would be one. */
export function checkedWorker(worker: string): string {
  nonEmpty(worker, "worker");
  return worker;
}
