import type { ClusterNode, ClusterNodes } from "@shoal/cluster";
import { type ClassRights, type MeasuredRecall, quoteText, ShoalError } from "@shoal/model";
import { type CopyReport, type ShardRecall, type ShardSize, type ShardStatus, shardKeyOf } from "@shoal/rpc";
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
 * `GET /v1/nodes`: one entry a storage node that has registered, by name, with the copies of shards that it holds. `UNHEALTHY`: a shard
 * of it cannot be written, has failed, or is a copy that is not in sync, or damaged; `UNAVAILABLE`: it cannot be reached, and nothing is known of its shards. Shards of classes that the client may not
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
      const states = await Promise.all(nodes.nodes.map((node) => stateOf(node, output, copiesOf, rights, bounded)));
      const ends = endsOf(states);
      return jsonResponse(200, { nodes: states.map((state) => shown(state, output, copiesOf, ends)) });
    },
  };
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
  readonly copies: readonly CopyReport[];
  readonly recalls: readonly ShardRecall[];
  readonly sizes: readonly ShardSize[];
}

async function stateOf(
  { record, service }: ClusterNode,
  output: NodeOutput,
  copiesOf: CopiesOf,
  rights: ClassRights | undefined,
  context: RequestContext,
): Promise<NodeState> {
  const { name, shoalVersion: version, gitHash } = record;
  const node = { name, version, gitHash };
  const statuses = await service.shardStatuses(context).catch((thrown: unknown) => {
    // Nobody waits for the response any more.
    if (context.signal?.aborted) throw thrown;
    return undefined;
  });
  if (statuses === undefined) return { node, status: "UNAVAILABLE", shards: [], copies: [], recalls: [], sizes: [] };
  // A node of an older version does not know the questions.
  const hasCopies = statuses.some(({ address }) => copiesOf(address.className) > 1);
  const copies = hasCopies ? await service.shardCopies(context).catch(() => []) : [];
  const [recalls, sizes] =
    output === "verbose"
      ? await Promise.all([service.shardRecalls(context).catch(() => []), service.shardSizes(context).catch(() => [])])
      : [[], []];
  // Of the node, whatever the user sees of it.
  const isInSync = copies.every(({ state }) => state === "IN_SYNC");
  const isHealthy = isInSync && statuses.every(({ status }) => status === "ready");
  const seen = statuses.filter(({ address }) => rights?.maySeeShards(address.className) !== false);
  const shards = [...seen].sort(byClassThenName);
  return { node, status: isHealthy ? "HEALTHY" : "UNHEALTHY", shards, copies, recalls, sizes };
}

/** Clients fill their batches by it: without the length of a queue they do not wait for one (reference-today 5.10). */
const BATCH_STATS = { ratePerSecond: 0 };

function shown(state: NodeState, output: NodeOutput, copiesOf: CopiesOf, ends: PrimaryEnds) {
  const {
    node: { name, version, gitHash },
    status,
    shards,
  } = state;
  const stats = { objectCount: shards.reduce((sum, shard) => sum + shard.objectCount, 0), shardCount: shards.length };
  if (output === undefined) return { name, status, version, gitHash, stats, shards: shards.map(shownShard) };
  const node = { batchStats: BATCH_STATS, gitHash, name, operationalMode: "ReadWrite" };
  if (output === "minimal") return { ...node, shards: null, status, version };
  return { ...node, shards: shards.map((shard) => verboseShard(shard, state, copiesOf, ends)), stats, status, version };
}

interface PrimaryEnd {
  /** The last change. */
  readonly end: number;
  readonly objectCount: number;
}

/** By shard. */
type PrimaryEnds = ReadonlyMap<string, PrimaryEnd>;

/** How far the primaries of shards with copies have come, as far as their nodes say so. */
function endsOf(states: readonly NodeState[]): PrimaryEnds {
  const ends = new Map<string, PrimaryEnd>();
  for (const { copies, shards } of states) {
    const counts = new Map(shards.map(({ address, objectCount }) => [shardKeyOf(address), objectCount]));
    for (const { address, isPrimary, end } of copies) {
      const key = shardKeyOf(address);
      if (isPrimary) ends.set(key, { end, objectCount: counts.get(key) ?? 0 });
    }
  }
  return ends;
}

function shownShard({ address, objectCount }: ShardStatus) {
  return { name: address.shardName, class: address.className, objectCount };
}

/** A vector is in the index when its write is acknowledged. */
function verboseShard(
  shard: ShardStatus,
  { copies, recalls, sizes }: NodeState,
  copiesOf: CopiesOf,
  ends: PrimaryEnds,
) {
  const count = copiesOf(shard.address.className);
  const key = shardKeyOf(shard.address);
  const copy = copies.find(({ address }) => shardKeyOf(address) === key);
  const size = sizes.find(({ address }) => shardKeyOf(address) === key);
  const recall = recallOf(shard, recalls);
  return {
    ...shownShard(shard),
    asyncReplicationStatus: null,
    compressed: false,
    loaded: shard.status !== "failed",
    numberOfReplicas: count,
    replicationFactor: count,
    vectorIndexingStatus: shard.status === "ready" ? "READY" : "READONLY",
    vectorQueueLength: 0,
    // Ours: what it takes, the copy of the shard that is here, and what the index has measured of itself.
    ...(size === undefined ? {} : { diskBytes: size.diskBytes, vectorMemoryBytes: size.vectorMemoryBytes }),
    ...(copy === undefined ? {} : shownCopy(copy, shard.objectCount, ends.get(key))),
    ...(recall === undefined ? {} : { recall: shownRecall(recall) }),
    // Why it is not as it should be: a member of ours.
    ...(shard.reason === undefined ? {} : { reason: shard.reason }),
  };
}

/**
 * `lag`: changes that it lacks; objects, while it gets all of them and has the end of no journal yet. Left out of a damaged one, and while
 * the primary's node does not say.
 */
function shownCopy({ name, state, isPrimary, end }: CopyReport, objectCount: number, primary: PrimaryEnd | undefined) {
  const shown = { copy: name, copyState: state, isPrimary };
  if (primary === undefined || state === "DAMAGED") return shown;
  const isFilled = state === "CATCHING_UP" && end === 0 && primary.end > 0;
  if (isFilled) return { ...shown, lag: Math.max(1, primary.objectCount - objectCount) };
  return { ...shown, lag: Math.max(0, primary.end - end) };
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
