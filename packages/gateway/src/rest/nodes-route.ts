import type { ClusterNode, ClusterNodes } from "@shoal/cluster";
import { type ClassRights, type MeasuredRecall, quoteText, ShoalError } from "@shoal/model";
import type { ShardRecall, ShardStatus } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Clock } from "@shoal/service-runtime";
import { queryParameter, type RequestContent } from "../http/http-request.js";
import { jsonResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";

/** A node that has not reported its shards by then counts as unavailable. */
const NODE_MS_MAX = 2_000;

/** How much is shown of a node; without it what was shown before there was a choice. */
export const NODE_OUTPUTS = ["minimal", "verbose"] as const;
type NodeOutput = (typeof NODE_OUTPUTS)[number] | undefined;

/** How many copies a shard of a class has. */
type CopiesOf = (className: string) => number;

/**
 * `GET /v1/nodes`: one entry a storage node that has registered, by name, with the copies of shards that it holds. `UNHEALTHY`: a shard of it cannot be written or
 * has failed; `UNAVAILABLE`: it cannot be reached, and nothing is known of its shards. Shards of classes that the client may not
 * know of are neither shown nor counted. `output` as in reference-today 5.10.
 */
export function nodesRoute(nodes: ClusterNodes, clock: Clock, copiesOf: CopiesOf): Route {
  return {
    method: "GET",
    path: "/v1/nodes",
    body: "none",
    access: { verb: "list", resource: "nodes", action: "read_nodes" },
    timeout: "request",
    handle: async (request) => {
      const output = outputOf(request);
      const { context } = request;
      const { rights } = context;
      const deadline = Math.min(context.deadline, clock.now() + NODE_MS_MAX);
      const bounded: RequestContext = { deadline, signal: context.signal, requestId: context.requestId };
      return jsonResponse(200, {
        nodes: await Promise.all(nodes.nodes.map((node) => shownNode(node, output, copiesOf, rights, bounded))),
      });
    },
  };
}

async function shownNode(
  node: ClusterNode,
  output: NodeOutput,
  copiesOf: CopiesOf,
  rights: ClassRights | undefined,
  context: RequestContext,
) {
  const state = await stateOf(node, rights, context);
  if (output !== "verbose" || state.status === "UNAVAILABLE") return shown(state, output, copiesOf, []);
  // A node of an older version does not know the question.
  return shown(state, output, copiesOf, await node.service.shardRecalls(context).catch(() => []));
}

function outputOf(request: Pick<RequestContent, "queryString">): NodeOutput {
  const given = queryParameter(request, "output");
  const output = NODE_OUTPUTS.find((one) => one === given);
  if (given === undefined || output !== undefined) return output;
  throw new ShoalError(
    "invalid",
    `query parameter 'output' must be one of ${NODE_OUTPUTS.join(", ")}, got ${quoteText(given)}`,
  );
}

interface NodeState {
  readonly node: { readonly name: string; readonly version: string; readonly gitHash: string };
  readonly status: "HEALTHY" | "UNHEALTHY" | "UNAVAILABLE";
  /** Those that the client may know of. */
  readonly shards: readonly ShardStatus[];
}

async function stateOf(
  { record, service }: ClusterNode,
  rights: ClassRights | undefined,
  context: RequestContext,
): Promise<NodeState> {
  const { name, shoalVersion: version, gitHash } = record;
  const node = { name, version, gitHash };
  const statuses = await service.shardStatuses(context).catch((thrown: unknown) => {
    // Nobody waits for the answer any more.
    if (context.signal?.aborted) throw thrown;
    return undefined;
  });
  if (statuses === undefined) return { node, status: "UNAVAILABLE", shards: [] };
  // Of the node, whatever the user sees of it.
  const isHealthy = statuses.every(({ status }) => status === "ready");
  const seen = statuses.filter(({ address }) => rights?.maySeeShards(address.className) !== false);
  return { node, status: isHealthy ? "HEALTHY" : "UNHEALTHY", shards: [...seen].sort(byClassThenName) };
}

/** Clients fill their batches by it: without the length of a queue they do not wait for one (reference-today 5.10). */
const BATCH_STATS = { ratePerSecond: 0 };

function shown(
  { node: { name, version, gitHash }, status, shards }: NodeState,
  output: NodeOutput,
  copiesOf: CopiesOf,
  recalls: readonly ShardRecall[],
) {
  const stats = { objectCount: shards.reduce((sum, shard) => sum + shard.objectCount, 0), shardCount: shards.length };
  if (output === undefined) return { name, status, version, gitHash, stats, shards: shards.map(shownShard) };
  const node = { batchStats: BATCH_STATS, gitHash, name, operationalMode: "ReadWrite" };
  if (output === "minimal") return { ...node, shards: null, status, version };
  return {
    ...node,
    shards: shards.map((shard) => verboseShard(shard, copiesOf, recallOf(shard, recalls))),
    stats,
    status,
    version,
  };
}

function shownShard({ address, objectCount }: ShardStatus) {
  return { name: address.shardName, class: address.className, objectCount };
}

/** A vector is in the index when its write is acknowledged. */
function verboseShard(shard: ShardStatus, copiesOf: CopiesOf, recall: MeasuredRecall | undefined) {
  const copies = copiesOf(shard.address.className);
  return {
    ...shownShard(shard),
    asyncReplicationStatus: null,
    compressed: false,
    loaded: shard.status !== "failed",
    numberOfReplicas: copies,
    replicationFactor: copies,
    vectorIndexingStatus: shard.status === "ready" ? "READY" : "READONLY",
    vectorQueueLength: 0,
    // Ours: what the index has measured of itself.
    ...(recall === undefined ? {} : { recall: shownRecall(recall) }),
    // Why it is not as it should be: a member of ours.
    ...(shard.reason === undefined ? {} : { reason: shard.reason }),
  };
}

function recallOf({ address }: ShardStatus, recalls: readonly ShardRecall[]): MeasuredRecall | undefined {
  const { classId, shardName } = address;
  return recalls.find((one) => one.address.classId === classId && one.address.shardName === shardName)?.recall;
}

function shownRecall({ measuredAtMs, ...recall }: MeasuredRecall) {
  return { ...recall, measuredAt: new Date(measuredAtMs).toISOString() };
}

function byClassThenName({ address: a }: ShardStatus, { address: b }: ShardStatus): number {
  if (a.className !== b.className) return a.className < b.className ? -1 : 1;
  return a.shardName < b.shardName ? -1 : 1;
}
