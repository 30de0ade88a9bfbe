import type { SchemaView } from "@shoal/cluster";
import { type AggregateQuery, type ClassRights, DEFAULT_WHERE_LIMITS } from "@shoal/model";
import { NO_ENABLED_MODULES } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { ClassRecord, Job, JobService, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { expect, it } from "vitest";
import { Classifications } from "./classification-service.js";

const NOW = 1_700_000_000_000;
const BODY = { type: "knn", class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"] };
const ITEM = {
  definition: {
    class: "Item",
    properties: [
      { name: "text", dataType: ["text"] },
      { name: "label", dataType: ["Label"] },
    ],
  },
  classId: "item",
} as unknown as ClassRecord;

/** Starts a job in a class of one object, which was changed at `updatedMs`. */
async function created(updatedMs: number, body: object, more: Partial<RequestContext> = {}) {
  const created: Parameters<JobService["create"]>[0][] = [];
  const jobs = {
    async create(job) {
      created.push(job);
      return { ...job, startedMs: NOW, state: "running", progress: [] } as unknown as Job;
    },
  } as Partial<JobService> as JobService;
  const snapshot = { version: 7 } as SchemaSnapshot;
  const view = { refresh: async () => {}, classRecord: () => ITEM, snapshot } as Partial<SchemaView> as SchemaView;
  const query: Pick<QueryService, "aggregate"> = {
    aggregate: async ({ where }: AggregateQuery) => {
      const isCounted = where === undefined || isLater(where, updatedMs);
      return [{ objectCount: isCounted ? 1 : 0, groupedBy: undefined, properties: new Map() }] as never;
    },
  };
  const parts = { jobs, view, query, modules: NO_ENABLED_MODULES, whereLimits: DEFAULT_WHERE_LIMITS };
  const classifications = new Classifications({ ...parts, newId: () => "id", nowMs: () => NOW });
  await classifications.start(body, { deadline: Number.POSITIVE_INFINITY, ...more }).catch((thrown: unknown) => {
    if (created.length === 0) throw thrown;
  });
  expect(created[0]?.request.schemaVersion).toBe(7);
  return created[0];
}

async function takenMs(updatedMs: number, body: object): Promise<unknown> {
  return (await created(updatedMs, body))?.request.takenMs;
}

function isLater(where: NonNullable<AggregateQuery["where"]>, updatedMs: number): boolean {
  expect(where).toMatchObject({ operator: "GreaterThan", path: ["_lastUpdateTimeUnix"] });
  return "value" in where && updatedMs > Number(where.value.values[0]);
}

it.each([
  ["before now", -1_000, NOW],
  ["by a clock that is a little ahead", 1_000, NOW],
  ["by a clock that was a day ahead", 86_400_000, Number.MAX_SAFE_INTEGER],
])("F13: knn learns from what was labelled %s", async (_, ahead, expected) => {
  expect(await takenMs(NOW + ahead, BODY)).toBe(expected);
});

it("other types have no labels to learn from", async () => {
  expect(await takenMs(NOW + 86_400_000, { ...BODY, type: "zeroshot" })).toBe(NOW);
});

it("S10: a job is its starter's, where there are rights", async () => {
  const holder = { username: "ann", groups: [], userType: "oidc" } as const;
  const rights = { holder } as Partial<ClassRights> as ClassRights;
  expect((await created(NOW, BODY, { rights }))?.owner).toBe("oidc/ann");
  expect(await created(NOW, BODY)).not.toHaveProperty("owner");
});
