import type { ClusterNode, ClusterNodes } from "@shoal/cluster";
import type { ClassRights } from "@shoal/model";
import type { RequestContext, ShardStatus } from "@shoal/rpc";
import type { Clock } from "@shoal/service-runtime";
import { jsonResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";

/** A node that has not told of its shards by then counts as unavailable. */
const NODE_MS_MAX = 2_000;

/**
 * `GET /v1/nodes`: one entry a storage node that has registered, by name. `UNHEALTHY`: a shard of it cannot be written or
 * has failed; `UNAVAILABLE`: it cannot be reached, and nothing is known of its shards. Shards of classes that the client may not
 * know of are neither shown nor counted.
 */
export function nodesRoute(nodes: ClusterNodes, clock: Clock): Route {
  return {
    method: "GET",
    path: "/v1/nodes",
    body: "none",
    access: { verb: "list", resource: "nodes", action: "read_nodes" },
    timeout: "request",
    handle: async ({ context }) => {
      const { rights } = context;
      const deadline = Math.min(context.deadline, clock.now() + NODE_MS_MAX);
      const bounded: RequestContext = { deadline, signal: context.signal, requestId: context.requestId };
      return jsonResponse(200, {
        nodes: await Promise.all(nodes.nodes.map((node) => described(node, rights, bounded))),
      });
    },
  };
}

async function described({ record, service }: ClusterNode, rights: ClassRights | undefined, context: RequestContext) {
  const { name, shoalVersion: version, gitHash } = record;
  const statuses = await service.shardStatuses(context).catch((thrown: unknown) => {
    // Nobody waits for the answer any more.
    if (context.signal?.aborted) throw thrown;
    return undefined;
  });
  if (statuses === undefined) {
    return { name, status: "UNAVAILABLE", version, gitHash, stats: { objectCount: 0, shardCount: 0 }, shards: [] };
  }
  const isHealthy = statuses.every(({ status }) => status === "ready");
  const seen = statuses.filter(({ address }) => rights?.maySeeShards(address.className) !== false);
  const objectCount = seen.reduce((sum, shard) => sum + shard.objectCount, 0);
  return {
    name,
    status: isHealthy ? "HEALTHY" : "UNHEALTHY",
    version,
    gitHash,
    stats: { objectCount, shardCount: seen.length },
    shards: [...seen].sort(byClassThenName).map(({ address, objectCount }) => {
      return { name: address.shardName, class: address.className, objectCount };
    }),
  };
}

function byClassThenName({ address: a }: ShardStatus, { address: b }: ShardStatus): number {
  if (a.className !== b.className) return a.className < b.className ? -1 : 1;
  return a.shardName < b.shardName ? -1 : 1;
}
