import { epochAt } from "../journal-position.js";
import { nodeOf, type ShardConfiguration } from "../shard-configuration.js";
import { type ClientOperation, isLinear, staleSearch } from "./client-history.js";
import type { SimulatedDisk } from "./simulated-disk.js";
import type { SimulatedNode } from "./simulated-node.js";

/** A promise does not hold. */
export class Broken extends Error {}

interface Cluster {
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly store: ReadonlyMap<string, ShardConfiguration>;
  /** By `shard/document`. */
  readonly histories: ReadonlyMap<string, ClientOperation[]>;
  /** Of each shard: the epoch of each entry that was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Nodes that never come back. */
  readonly gone: ReadonlySet<string>;
}

/** Everything acknowledged is on every copy that is in sync or eligible and has its disk. */
export function checkCopies(
  { nodes, acknowledged }: Cluster,
  shard: string,
  { inSync, eligible, epoch }: ShardConfiguration,
): void {
  const known = acknowledged.get(shard);
  if (known === undefined) return;
  for (const copy of [...inSync, ...eligible]) {
    const disk = nodes.get(nodeOf(copy))?.disks.get(shard);
    // The others still have what is gone from the log of one; it goes back to them, or all is lost, and they are looked at.
    if (disk?.copy !== copy || disk.hasLostEnd) continue;
    const { end, epochs } = disk.state;
    const last = Math.max(0, ...known.keys());
    if (end.sequence < last)
      throw new Broken(`${shard}: ${copy} ends at ${end.sequence}, ${last} is acknowledged (epoch ${epoch})`);
    const has = known.get(last);
    if (last > 0 && epochAt(epochs, last) !== has) {
      throw new Broken(
        `${shard}: entry ${last} of ${copy} is of epoch ${epochAt(epochs, last)}, that of ${has} is acknowledged`,
      );
    }
  }
}

/** Copies in sync whose journals end where that of `primary` does hold the same rows. */
export function checkRows(
  { nodes }: Cluster,
  shard: string,
  primary: SimulatedDisk,
  { inSync }: ShardConfiguration,
): void {
  for (const copy of inSync) {
    const disk = nodes.get(nodeOf(copy))?.disks.get(shard);
    if (disk?.copy !== copy || disk === primary) continue;
    const { end } = disk.state;
    if (end.epoch !== primary.state.end.epoch || end.sequence !== primary.state.end.sequence) continue;
    const documents = new Set([...primary.rows.keys(), ...disk.rows.keys()]);
    for (const document of documents) {
      const [one, other] = [primary, disk].map(({ rows }) => rows.get(document)?.value ?? "");
      if (one !== other) {
        throw new Broken(
          `${shard}: both end at ${end.sequence}, ${document} is '${one}' on ${primary.copy}, '${other}' on ${copy}`,
        );
      }
    }
  }
}

/** Whether a copy that is in sync, or the only way to what was acknowledged, is left when the disks of `name` are lost. */
export function hasIntactCopyElsewhere({ nodes, store, gone }: Cluster, shard: string, name: string): boolean {
  const configuration = store.get(shard);
  if (configuration === undefined) return true;
  return configuration.inSync.some((copy) => {
    const node = nodeOf(copy);
    const disk = nodes.get(node)?.disks.get(shard);
    return node !== name && !gone.has(node) && disk?.copy === copy && !disk.isDamaged;
  });
}

/** Some time after the last fault everything is whole. */
export function checkHealed(cluster: Cluster): void {
  const { nodes, store, gone } = cluster;
  for (const [shard, configuration] of store) {
    const isWhole = (copy: string) => {
      const node = nodeOf(copy);
      return !gone.has(node) && nodes.get(node)?.disks.get(shard)?.isDamaged !== true;
    };
    const inSync = configuration.inSync.filter(isWhole);
    const learners = configuration.learners.filter(isWhole);
    if (learners.length > 0)
      throw new Broken(`${shard}: ${learners.join(", ")} is not in sync long after the last fault`);
    const disks = inSync.map((copy) => nodes.get(nodeOf(copy))?.disks.get(shard));
    const [first, ...others] = disks.map((disk) => JSON.stringify([...(disk?.rows ?? [])].sort()));
    if (others.some((other) => other !== first)) {
      throw new Broken(`${shard}: copies differ: ${[first, ...others].join(" | ")}`);
    }
    const primary = nodes.get(nodeOf(configuration.primary));
    const open = primary?.copy(shard);
    const fault = open === undefined ? "it is not open" : open.machine.readFault(primary?.localNow ?? 0);
    if (fault !== undefined) throw new Broken(`${shard}: the primary does not answer: ${fault}`);
    for (const copy of inSync) {
      const node = nodes.get(nodeOf(copy));
      const search = node?.copy(shard)?.machine.searchFault(node.localNow);
      if (search !== undefined) throw new Broken(`${shard}: ${copy} does not answer searches: ${search}`);
    }
    checkCopies(cluster, shard, configuration);
  }
}

/** What clients were answered. `now`: a last read of each document comes at the end. */
export function checkHistories({ nodes, store, histories }: Cluster, now: number): void {
  for (const [key, history] of histories) {
    const [shard = "", document = ""] = key.split("/");
    if (!store.has(shard)) continue;
    const primary = nodeOf(store.get(shard)?.primary ?? "/");
    const value = nodes.get(primary)?.disks.get(shard)?.rows.get(document)?.value ?? "";
    history.push({ kind: "read", value, calledAt: now, endedAt: now });
    const stale = staleSearch(history);
    if (stale !== undefined) {
      throw new Broken(
        `${key}: a search at ${stale.calledAt.toFixed(1)} found '${stale.value}', which was overwritten before`,
      );
    }
    if (!isLinear(history)) throw new Broken(`${key}: no order of its operations explains the answers`);
  }
}
