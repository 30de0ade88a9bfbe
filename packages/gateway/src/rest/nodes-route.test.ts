import type { ClusterNode } from "@shoal/cluster";
import { RequestWarnings, ShoalError } from "@shoal/model";
import type { CopyReport, ShardRecall, ShardService, ShardSize, ShardStatus } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { describe, expect, it } from "vitest";
import { ANONYMOUS } from "../auth/access.js";
import { nodesRoute } from "./nodes-route.js";

const NOW = 1_000_000;

function shard(className: string, shardName: string, objectCount: number, status: ShardStatus["status"]): ShardStatus {
  return { address: { classId: className, className, shardName }, objectCount, status, reason: undefined };
}

function node(
  name: string,
  shardStatuses: ShardService["shardStatuses"],
  recalls: readonly ShardRecall[] = [],
  copies: readonly CopyReport[] = [],
  sizes: readonly ShardSize[] = [],
): ClusterNode {
  const shardRecalls: ShardService["shardRecalls"] = async () => recalls;
  const shardCopies: ShardService["shardCopies"] = async () => copies;
  const service = {
    shardStatuses,
    shardRecalls,
    shardCopies,
    shardSizes: async () => sizes,
  } as Partial<ShardService> as ShardService;
  return { record: { name, address: `${name}:7101`, shoalVersion: "1.2.3", gitHash: "abc" }, service };
}

async function response(
  nodes: readonly ClusterNode[],
  queryString = "",
  context: RequestContext = { deadline: NOW + 60_000 },
) {
  const { handle } = nodesRoute({ nodes }, { now: () => NOW }, (name) => (name === "Copied" ? 3 : 1));
  const warnings = new RequestWarnings();
  const request = { params: [], queryString, body: Buffer.alloc(0), principal: ANONYMOUS, context, warnings };
  const { status, body } = await handle(request);
  expect(status).toBe(200);
  return JSON.parse(String(body)).nodes;
}

describe("GET /v1/nodes", () => {
  it("has an entry for each node, with its shards by class and name", async () => {
    const nodes = await response([
      node("a", async () => [
        shard("Car", "s2", 3, "ready"),
        shard("Bus", "s1", 1, "ready"),
        shard("Car", "s1", 2, "ready"),
      ]),
      node("b", async () => []),
    ]);
    expect(nodes).toEqual([
      {
        name: "a",
        status: "HEALTHY",
        version: "1.2.3",
        gitHash: "abc",
        stats: { objectCount: 6, shardCount: 3 },
        shards: [
          { name: "s1", class: "Bus", objectCount: 1 },
          { name: "s1", class: "Car", objectCount: 2 },
          { name: "s2", class: "Car", objectCount: 3 },
        ],
      },
      {
        name: "b",
        status: "HEALTHY",
        version: "1.2.3",
        gitHash: "abc",
        stats: { objectCount: 0, shardCount: 0 },
        shards: [],
      },
    ]);
    expect(await response([])).toEqual([]);
  });

  it("tells which are unwell, and which cannot be reached, asking all at once and for two seconds at most", async () => {
    const deadlines: number[] = [];
    let asked = 0;
    let allAsked = () => {};
    const all = new Promise<void>((resolve) => {
      allAsked = resolve;
    });
    const statuses =
      (list: readonly ShardStatus[] | undefined) =>
      async ({ deadline }: RequestContext) => {
        deadlines.push(deadline);
        if (++asked === 3) allAsked();
        await all;
        if (list === undefined) throw new ShoalError("unavailable", "node 'c' is not reachable");
        return list;
      };
    const nodes = await response([
      node("a", statuses([shard("Car", "s1", 2, "ready"), shard("Car", "s2", 2, "readOnly")])),
      node("b", statuses([shard("Car", "s3", 0, "failed")])),
      node("c", statuses(undefined)),
    ]);
    expect(nodes.map(({ name, status, stats }: Record<string, unknown>) => [name, status, stats])).toEqual([
      ["a", "UNHEALTHY", { objectCount: 4, shardCount: 2 }],
      ["b", "UNHEALTHY", { objectCount: 0, shardCount: 1 }],
      ["c", "UNAVAILABLE", { objectCount: 0, shardCount: 0 }],
    ]);
    expect(deadlines).toEqual([NOW + 2_000, NOW + 2_000, NOW + 2_000]);
  });

  it("F17: has what the index of a shard has measured, and nothing of it where a node does not know the question", async () => {
    const recall = { target: 0.98, recall: 0.9831, error: 0.0024, candidates: 117.5, sample: 256, linked: 100_000 };
    const { address } = shard("Car", "s1", 2, "ready");
    const measured = { address, recall: { ...recall, queries: "asked", measuredAtMs: 1_700_000_000_000 } as const };
    const statuses = async () => [shard("Car", "s1", 2, "ready"), shard("Car", "s2", 1, "ready")];
    const recallsOf = async (one: ClusterNode, output: string) =>
      (await response([one], output))[0].shards.map((each: { readonly recall?: unknown }) => each.recall);
    const known = node("a", statuses, [measured]);
    expect(await recallsOf(known, "output=verbose")).toEqual([
      { ...recall, queries: "asked", measuredAt: "2023-11-14T22:13:20.000Z" },
      undefined,
    ]);
    expect(await recallsOf(known, "")).toEqual([undefined, undefined]);
    const older = node("a", statuses);
    (older.service as { shardRecalls: unknown }).shardRecalls = async () =>
      Promise.reject(new ShoalError("internal", "no such method"));
    expect(await recallsOf(older, "output=verbose")).toEqual([undefined, undefined]);
  });

  it("lists a shard with copies under each of its nodes, and counts it there", async () => {
    const copied = async () => [shard("Car", "s1", 2, "ready"), shard("Copied", "s1", 5, "ready")];
    const nodes = await response([node("a", copied), node("b", copied)], "output=verbose");
    for (const { stats, shards } of nodes) {
      expect(stats).toEqual({ objectCount: 7, shardCount: 2 });
      expect(shards).toMatchObject([
        { class: "Car", numberOfReplicas: 1, replicationFactor: 1 },
        { class: "Copied", numberOfReplicas: 3, replicationFactor: 3 },
      ]);
    }
  });

  it("tells of each copy whether it is in sync, and what it lacks; a node with one that is not is unhealthy", async () => {
    const { address, ...status } = shard("Copied", "s1", 5, "ready");
    const copied = async () => [{ address, ...status }];
    const copy = (name: string, state: CopyReport["state"], end: number): CopyReport => {
      return { address, name: `${name}/1`, state, isPrimary: name === "a", end };
    };
    const nodes = [
      node("a", copied, [], [copy("a", "IN_SYNC", 90)]),
      node("b", copied, [], [copy("b", "CATCHING_UP", 70)]),
      node("c", copied),
    ];
    expect(await response(nodes, "output=verbose")).toMatchObject([
      { status: "HEALTHY", shards: [{ copy: "a/1", copyState: "IN_SYNC", isPrimary: true, lag: 0 }] },
      { status: "UNHEALTHY", shards: [{ copy: "b/1", copyState: "CATCHING_UP", isPrimary: false, lag: 20 }] },
      { status: "HEALTHY", shards: [{ objectCount: 5 }] },
    ]);
  });

  it("shows a damaged copy with its reason and without a lag; its node is unhealthy", async () => {
    const { address, ...status } = shard("Copied", "s1", 5, "ready");
    const reason = "store /data/rows cannot be opened, its files are damaged: Corruption: CURRENT";
    const copy = (name: string, state: CopyReport["state"], end: number): CopyReport => {
      return { address, name: `${name}/1`, state, isPrimary: name === "a", end };
    };
    const failed = { address, objectCount: 0, status: "failed", reason } as const;
    const lossy = { address, ...status, reason: "object 'x' is lost" };
    const nodes = await response(
      [
        node("a", async () => [{ address, ...status }], [], [copy("a", "IN_SYNC", 90)]),
        node("b", async () => [failed], [], [copy("b", "DAMAGED", 0)]),
        node("c", async () => [lossy], [], [copy("c", "DAMAGED", 90)]),
      ],
      "output=verbose",
    );
    expect(nodes).toMatchObject([
      { status: "HEALTHY" },
      { status: "UNHEALTHY", shards: [{ copy: "b/1", copyState: "DAMAGED", loaded: false, reason }] },
      { status: "UNHEALTHY", shards: [{ copy: "c/1", copyState: "DAMAGED", loaded: true, reason: lossy.reason }] },
    ]);
    for (const { shards } of nodes.slice(1)) expect(shards[0]).not.toHaveProperty("lag");
  });

  it("tells of a copy that gets all objects how many it lacks, and of one that goes on from its journal how many changes", async () => {
    const lagOf = async (objectCount: number, end: number) => {
      const { address } = shard("Copied", "s1", 0, "ready");
      const copied = (count: number) => async () => [shard("Copied", "s1", count, "ready")];
      const primary = { address, name: "a/1", state: "IN_SYNC", isPrimary: true, end: 5_000 } as const;
      const copy = { address, name: "b/1", state: "CATCHING_UP", isPrimary: false, end } as const;
      const nodes = [node("a", copied(1_000), [], [primary]), node("b", copied(objectCount), [], [copy])];
      return (await response(nodes, "output=verbose"))[1].shards[0].lag;
    };
    expect([await lagOf(0, 0), await lagOf(400, 0), await lagOf(1_000, 0), await lagOf(1_000, 4_990)]).toEqual([
      1_000, 600, 1, 10,
    ]);
  });

  it("has the sizes of shards with and without copies, and lists the others of a node that does not know the questions", async () => {
    const shards = ["Car", "Copied", "Old"].map((name) => shard(name, "s1", 2, "ready"));
    const sizes = shards
      .slice(0, 2)
      .map(({ address }, at) => ({ address, diskBytes: 100 + at, vectorMemoryBytes: at }));
    const sized = node("a", async () => shards, [], [], sizes);
    const older = node("b", async () => shards);
    const unknown = async () => Promise.reject(new ShoalError("internal", "no such method"));
    Object.assign(older.service, { shardSizes: unknown, shardCopies: unknown });
    const [a, b] = await response([sized, older], "output=verbose");
    expect(a.shards).toMatchObject([
      { class: "Car", diskBytes: 100, vectorMemoryBytes: 0 },
      { class: "Copied", diskBytes: 101, vectorMemoryBytes: 1 },
      { class: "Old" },
    ]);
    for (const one of [a.shards[2], ...b.shards]) expect(one).not.toHaveProperty("diskBytes");
    const [plain] = await response([sized]);
    expect(plain.shards[0]).not.toHaveProperty("diskBytes");
  });

  it("U1: tells as much as `output` asks for, in the members of today's interface", async () => {
    const nodes = [
      node("a", async () => [shard("Car", "s1", 2, "ready"), shard("Car", "s2", 1, "readOnly")]),
      node("b", async () => Promise.reject(new ShoalError("unavailable", "away"))),
    ];
    const common = { batchStats: { ratePerSecond: 0 }, gitHash: "abc", operationalMode: "ReadWrite", version: "1.2.3" };
    expect(await response(nodes, "output=minimal")).toEqual([
      { ...common, name: "a", shards: null, status: "UNHEALTHY" },
      { ...common, name: "b", shards: null, status: "UNAVAILABLE" },
    ]);
    const verbose = {
      asyncReplicationStatus: null,
      class: "Car",
      compressed: false,
      loaded: true,
      numberOfReplicas: 1,
      replicationFactor: 1,
      vectorQueueLength: 0,
    };
    expect(await response(nodes, "output=verbose")).toEqual([
      {
        ...common,
        name: "a",
        shards: [
          { ...verbose, name: "s1", objectCount: 2, vectorIndexingStatus: "READY" },
          { ...verbose, name: "s2", objectCount: 1, vectorIndexingStatus: "READONLY" },
        ],
        stats: { objectCount: 3, shardCount: 2 },
        status: "UNHEALTHY",
      },
      { ...common, name: "b", shards: [], stats: { objectCount: 0, shardCount: 0 }, status: "UNAVAILABLE" },
    ]);
    const reason = "shard 's1' of class 'Car' is read-only but for deletions (MEMORY_BUDGET_BYTES)";
    const [full] = await response(
      [node("a", async () => [{ ...shard("Car", "s1", 2, "readOnly"), reason }])],
      "output=verbose",
    );
    expect(full).toMatchObject({ shards: [{ vectorIndexingStatus: "READONLY", reason }] });
    expect(await response(nodes, "output=")).toEqual(await response(nodes));
    await expect(response(nodes, "output=all")).rejects.toMatchObject({ code: "invalid" });
  });
});
