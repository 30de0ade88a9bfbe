import type { SchemaView, ShardRouter } from "@shoal/cluster";
import { DEFAULT_WHERE_LIMITS, SPEC_PROFILE, type VectorSearch } from "@shoal/model";
import { NO_ENABLED_MODULES } from "@shoal/module-api";
import type { FilterParts } from "@shoal/query";
import type { ClassRecord, Job, SchemaSnapshot, ShardService } from "@shoal/rpc";
import { expect, it } from "vitest";
import type { ClassificationRequest } from "./classification-request.js";
import { prepareRun } from "./prepare-run.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const ITEM = {
  definition: { class: "Item", vectorIndexConfig: { skip: false }, properties: [] },
  classId: "item",
  dimensions: 2,
} as unknown as ClassRecord;

/** Prepares a job, started at 1,000; `searches` gets what it asks its only shard for. */
function prepared(request: Partial<ClassificationRequest>, searches: VectorSearch[] = []) {
  const node = {
    async searchByVector(_, search) {
      searches.push(search);
      return [];
    },
  } as Partial<ShardService> as ShardService;
  const shard = { classId: "item", className: "Item", shardName: "one" };
  const router = { shardsOf: () => [shard], node: () => node } as Partial<ShardRouter> as ShardRouter;
  const snapshot = { version: 7 } as SchemaSnapshot;
  const view = { refresh: async () => {}, classRecord: () => ITEM, snapshot } as Partial<SchemaView> as SchemaView;
  const whole = { class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"], ...request };
  const job = { className: "Item", classId: "item", startedMs: 1_000, request: whole } as unknown as Job;
  const parts = { view, router, filters: {} as FilterParts, modules: NO_ENABLED_MODULES };
  return prepareRun({ ...parts, whereLimits: DEFAULT_WHERE_LIMITS, profile: SPEC_PROFILE }, job, context);
}

it("knn learns from what was labelled when the job was taken, by the clock that is ahead", async () => {
  for (const [takenMs, expected] of [
    [1_500, 1_500],
    [500, 1_000],
    [undefined, 1_000],
  ] as const) {
    const searches: VectorSearch[] = [];
    const request = { type: "knn", settings: { k: 3 }, ...(takenMs === undefined ? {} : { takenMs }) };
    const { classifier } = await prepared(request, searches);
    const item = { id: "00000000-0000-4000-8000-000000000001", properties: {}, vector: Float32Array.of(1, 0) };
    expect(await classifier.classify(item as Parameters<typeof classifier.classify>[0], context)).toEqual([]);
    const value = { kind: "int", values: [expected] };
    const before = { operator: "LessThanEqual", property: "_lastUpdateTimeUnix", value };
    expect(searches[0]?.filter).toMatchObject({ operator: "And", operands: expect.arrayContaining([before]) });
  }
});

it("a process that does not know the schema yet that the job was checked with leaves it to others", async () => {
  const request = { type: "knn", settings: { k: 3 } };
  await expect(prepared({ ...request, schemaVersion: 8 })).rejects.toMatchObject({ code: "unavailable" });
  for (const schemaVersion of [7, 6, undefined]) {
    await expect(prepared({ ...request, ...(schemaVersion && { schemaVersion }) })).resolves.toBeDefined();
  }
});

it("a type that only others know is left to them, one that nobody knows ends the job", async () => {
  const type = "text2vec-contextionary-contextual";
  await expect(prepared({ type, isKnownType: true })).rejects.toMatchObject({ code: "unavailable" });
  await expect(prepared({ type, isKnownType: false })).rejects.toMatchObject({
    code: "invalid",
    message: `prepare classification: cannot classify: classifier ${type} not found`,
  });
});
