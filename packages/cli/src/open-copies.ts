import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { copyNameOf, identityOf } from "@shoal/coordinator";
import type { CopyService, NodeService } from "@shoal/rpc";
import type { Logger, Metrics, ResourceScope } from "@shoal/service-runtime";
import { NodeCopies, type Peer, Peers, type ReplicaEvent, type StorageNode } from "@shoal/storage-node";
import { gauge, labelledCounter, labelledGauge } from "./internal-port.js";
import type { ProcessOptions } from "./process-options.js";

export interface CopiesParts {
  readonly nodeName: string;
  /** Of the data folder. */
  readonly secret: string;
  readonly service: CopyService;
  readonly nodes: Pick<NodeService, "watch">;
  readonly connect: (name: string, address: string) => Peer;
  readonly metrics: Metrics | undefined;
}

const ID_BYTES = 6;

/** The copies of shards that this node holds, with connections to the nodes that hold the others. */
export function openCopies(
  { clock, configuration, logger }: ProcessOptions,
  parts: CopiesParts,
  scope: ResourceScope,
): NodeCopies {
  const { nodeName, secret, service, nodes, connect, metrics } = parts;
  const peers = scope.use(
    new Peers({
      ...{ nodeName, nodes, connect },
      onLost: (node, message) => logger.debug({ node, message }, "a message to another node was dropped"),
    }),
  );
  const copies = scope.use(
    new NodeCopies({
      nodeName,
      ownCopy: copyNameOf(nodeName, identityOf(secret)),
      service,
      send: (node, message) => peers.send(node, message),
      now: () => performance.now(),
      clock: () => clock.now(),
      newId: () => randomBytes(ID_BYTES).toString("hex"),
      leaseMs: configuration.copyLeaseMilliseconds,
      journalKeepEntries: configuration.journalKeepEntries,
      isLossAccepted: configuration.acceptDataLoss,
      transferBytesPerSecond: configuration.copyTransferBytesPerSecond,
    }),
  );
  scope.use(copies.onEvent((event) => logReplicaEvent(logger, event)));
  if (metrics !== undefined) describeCopies(metrics, copies);
  return copies;
}

/** Declares in which states the copies on this node are, those that are not open included. */
export function describeCopyStates(metrics: Metrics, node: Pick<StorageNode, "shardCopies">): void {
  labelledGauge(metrics, "shoal_copies", "Copies of shards on this node, by state.", "state", async () => {
    const counts = { in_sync: 0, catching_up: 0, damaged: 0 };
    for (const { state } of await node.shardCopies({ deadline: Number.POSITIVE_INFINITY })) {
      counts[COPY_STATE_LABELS[state]]++;
    }
    return counts;
  });
}

const COPY_STATE_LABELS = { IN_SYNC: "in_sync", CATCHING_UP: "catching_up", DAMAGED: "damaged" } as const;

function describeCopies(metrics: Metrics, copies: NodeCopies): void {
  const outOfSync = "Copies that are not in sync, of the shards whose primary is on this node.";
  gauge(metrics, "shoal_copies_out_of_sync", outOfSync, () => copies.statistics().outOfSync);
  const tooFew = "Shards whose primary is on this node and that take no writes, as too few copies are in sync.";
  gauge(metrics, "shoal_shards_below_min_in_sync", tooFew, () => copies.statistics().belowMinInSync);
  const changes = "Changes of who holds a shard, made by this node: a copy here took over, or another was taken out.";
  labelledCounter(metrics, "shoal_copy_changes_total", changes, "change", () => {
    const { takenOver, takenOut } = copies.statistics();
    return { taken_over: takenOver, taken_out: takenOut };
  });
  const fullCopies = "Times that a copy on this node was to get all rows, and what became of that.";
  labelledCounter(metrics, "shoal_full_copies_total", fullCopies, "step", () => {
    const { begun, withGraph, linked, givenUp } = copies.statistics().fullCopies;
    return { begun, with_graph: withGraph, linked, given_up: givenUp };
  });
  const sent = "Bytes that this node has sent to copies that catch up.";
  labelledCounter(metrics, "shoal_copy_sent_bytes_total", sent, "kind", () => ({ ...copies.statistics().sentBytes }));
}

function logReplicaEvent(logger: Logger, event: ReplicaEvent): void {
  const { classId, className, shardName } = event.shard;
  const where = { class: className, classId, shard: shardName };
  if (event.type === "configured") {
    const { primary, epoch, inSync, learners, version } = event.after;
    const isChanged = event.before?.inSync.length !== inSync.length || event.before?.primary !== primary;
    const isTakenOut = (event.before?.inSync.length ?? 0) > inSync.length;
    logger[isTakenOut ? "warn" : isChanged ? "info" : "debug"](
      { ...where, version, epoch, primary, inSync, learners },
      "copies of a shard",
    );
    return;
  }
  const { type, shard: _, ...fields } = event;
  const [level, message] = EVENTS[type];
  logger[level]({ ...where, ...fields }, message);
}

const EVENTS = {
  takesBack: [
    "warn",
    "a copy rolls back changes that its primary lacks: not acknowledged, or lost by the primary's disk",
  ],
  discarded: ["info", "a copy that belongs to its shard no more is removed"],
  fullCopyBegun: ["info", "a full copy begins: all objects come from another copy"],
  fullCopyEnded: ["info", "a full copy has ended"],
  catchUpHeld: [
    "warn",
    "a copy that is not in sync takes no more objects for now: memory is used up (MEMORY_BUDGET_BYTES)",
  ],
  copyFailed: ["error", "the store of a copy has failed, and is opened again"],
  copyDamaged: ["error", "a copy is damaged, and answers no more: another one has what it has lost"],
  catchUpFailed: ["error", "rows that another copy needs could not be read"],
  graphFailed: ["warn", "the vector index could not be sent to another copy, which links its rows"],
} as const;
