import { createHash } from "node:crypto";
import { type Json, ShoalError } from "@shoal/model";
import { type CopyName, nodeOf } from "@shoal/replication";
import {
  type ClassRecord,
  type NodeClaim,
  type NodeDirectory,
  type NodePresence,
  type NodeRecord,
  type NodeService,
  WatchedValue,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { PhysicalShard } from "@shoal/sharding";
import type { Ledger } from "./ledger.js";
import { type LostShard, shardsLostWith } from "./lost-shards.js";
import { entriesUnder, type MetaState } from "./meta-store.js";
import { configurationIn, isLost, nodesOf } from "./shard-configurations.js";
import { readDrops, withoutHolder } from "./stored-drops.js";
import { otherChanges, readSchema } from "./stored-schema.js";

/** Prefix of the keys under which storage nodes stand. */
const NODE_PREFIX = "node/";

/** Revision at which a node was removed last: it leaves nothing else behind by which others could hear of it. */
const LAST_REMOVAL_KEY = "lastNodeRemoval";

/** So many classes of a node that cannot be removed are named, and so many shards that would be lost. */
const NAMED_MAX = 10;

/** So much of a node's identity names the copies in its folder. */
const COPY_ID_CHARS = 12;

/** Also a name of the DNS in a certificate; capitals and `_` occur in names of machines. */
const NODE_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

/** In the certificates of these roles; a storage node with one of them could pass for one. */
const ROLE_NAMES: readonly string[] = ["coordinator", "gateway", "contextionary", "etcd"];

/** A node as stored. */
interface StoredNode {
  readonly name: string;
  readonly address?: string;
  readonly shoalVersion: string;
  readonly gitHash: string;
  /** Of the data folder that has the name. Absent: a node of a version without one registered last. */
  readonly identity?: string;
  /** Of the store when this was written. */
  readonly revision: number;
}

/** Who is at an address as node `name`; undefined: nobody. */
export type FindNode = (name: string, address: string) => Promise<NodePresence | undefined>;

/** How a node is known again: what its claim says of its secret. */
export function identityOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/**
 * The first copy of a shard in the folder of that identity. Later ones there have this name and more behind it, so that every copy says
 * which folder it is in.
 */
export function copyNameOf(nodeName: string, identity: string): CopyName {
  return `${nodeName}/${identity.slice(0, COPY_ID_CHARS)}`;
}

/** The storage nodes that have registered, in the MetaStore. Shards are placed by their names: who has any does not leave. */
export class NodeRegistry implements NodeService, Disposable {
  readonly #ledger: Ledger;
  readonly #expectedStorageNodes: number;
  readonly #findNode: FindNode;
  readonly #subscription: Disposable;
  readonly #directory: WatchedValue<NodeDirectory>;

  /** Without `findNode` no node is looked for: in one process there is no other. */
  constructor(ledger: Ledger, expectedStorageNodes: number, findNode: FindNode = async () => undefined) {
    this.#ledger = ledger;
    this.#findNode = findNode;
    this.#expectedStorageNodes = expectedStorageNodes;
    this.#directory = new WatchedValue(readNodes(ledger.state, expectedStorageNodes));
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  /** Writes nothing when the node stands there as it is. */
  async register(node: NodeRecord, context: RequestContext, claim?: NodeClaim): Promise<void> {
    if (!NODE_NAME.test(node.name)) {
      throw new ShoalError(
        "invalid",
        `'${node.name}' cannot name a storage node: letters, digits, '-', '_' and '.', at most 253, with a letter or digit at both ends (CLUSTER_HOSTNAME)`,
      );
    }
    if (ROLE_NAMES.includes(node.name)) {
      throw new ShoalError(
        "invalid",
        `'${node.name}' cannot name a storage node: it is the name of a role (CLUSTER_HOSTNAME)`,
      );
    }
    const key = NODE_PREFIX + node.name;
    const identity = claim === undefined ? undefined : identityOf(claim.secret);
    for (let isEntered = false; !isEntered; ) {
      // Looking takes time, so what was decided on may have changed since.
      const decidedOn = storedNode((await this.#ledger.current()).entries.get(key));
      if (decidedOn !== undefined) await this.#checkIsAway(decidedOn, node, identity, claim);
      isEntered = await this.#ledger.change(context, (state) => {
        const known = storedNode(state.entries.get(key));
        if (known?.revision !== decidedOn?.revision) return { changes: [], result: false };
        if (known?.identity !== undefined && known.identity !== identity && claim?.replaces !== true) {
          this.#checkMayBeEmpty(node.name, claim, state);
        }
        if (known !== undefined && known.identity === identity && isSame(recordOf(known), node)) {
          return { changes: [], result: true };
        }
        const { name, address, shoalVersion, gitHash } = node;
        const value: { [member: string]: Json } = { name, shoalVersion, gitHash, revision: state.revision + 1 };
        if (address !== undefined) value.address = address;
        if (identity !== undefined) value.identity = identity;
        return { changes: otherChanges(state, [{ key, value }]), result: true };
      });
    }
  }

  /** Fails with `conflict` when who has the name is alive, and is not the caller: unless it is of a version without an identity. */
  async #checkIsAway(
    known: StoredNode,
    { name, address }: NodeRecord,
    identity: string | undefined,
    claim: NodeClaim | undefined,
  ): Promise<void> {
    if (known.identity === undefined) return;
    const isSameFolder = known.identity === identity;
    if (isSameFolder && known.address === address) return;
    const there = known.address === undefined ? undefined : await this.#findNode(name, known.address);
    if (there?.identity !== known.identity || there.process === claim?.process) return;
    const who = isSameFolder ? "another process on a copy of its data folder" : "another data folder";
    throw new ShoalError(
      "conflict",
      `storage node '${name}' is alive at ${known.address}: its name is not given to ${who} (CLUSTER_HOSTNAME)`,
    );
  }

  /**
   * Another folder takes the name of a node by itself where the node has shards and nothing is lost with them; otherwise fails with
   * `conflict`, as an operator has to say so. A node without a claim is of a version that has no copies.
   */
  #checkMayBeEmpty(name: string, claim: NodeClaim | undefined, state: MetaState): void {
    const { classes } = readSchema(this.#ledger.historyId, state).snapshot;
    const identities = new Map(storedNodes(state).map((node) => [node.name, node.identity]));
    const isThere = (copy: CopyName): boolean => {
      const identity = identities.get(nodeOf(copy));
      return identity !== undefined && copy.startsWith(copyNameOf(nodeOf(copy), identity));
    };
    const configurationOf = ({ classId }: ClassRecord, shard: PhysicalShard) =>
      isLost(state, classId, shard.name) ? undefined : configurationIn(state, classId, shard);
    const lost = shardsLostWith(name, classes, configurationOf, isThere);
    if (claim !== undefined && lost.length === 0 && this.#classesOn(name, state).length > 0) return;
    throw new ShoalError(
      "conflict",
      `storage node '${name}' has another data folder: start it there (node.json is part of it); if that is lost, ` +
        `CLUSTER_ACCEPT_DATA_LOSS=true lets another one take its name${lost.length === 0 ? "" : describeLost(lost)}`,
    );
  }

  async confirmDropped(nodeName: string, classIds: readonly string[], context: RequestContext): Promise<void> {
    await this.#ledger.change(context, (state) => {
      const drops = readDrops(state).filter(({ classId }) => classIds.includes(classId));
      const changes = withoutHolder(drops, nodeName);
      return { changes: changes.length === 0 ? [] : otherChanges(state, changes), result: undefined };
    });
  }

  async remove(name: string, context: RequestContext): Promise<NodeRecord> {
    const key = NODE_PREFIX + name;
    return this.#ledger.change(context, (state) => {
      const { nodes } = readNodes(state, this.#expectedStorageNodes);
      const registered = nodes.find((one) => one.name === name);
      const confirmed = withoutHolder(readDrops(state), name);
      // After a lost schema was brought back, a node that is gone may stand in what is pending, and nowhere else.
      if (registered === undefined && confirmed.length === 0) throw unknownNode(name, nodes);
      this.#checkIsFree(name, state);
      const node = registered ?? { name, address: undefined, shoalVersion: "", gitHash: "" };
      if (registered !== undefined && nodes.length <= this.#expectedStorageNodes)
        throw expectedNode(name, nodes.length);
      const removal = { key: LAST_REMOVAL_KEY, value: state.revision + 1 };
      // Whoever removes it knows that it is gone for good, and with it all that it could still take writes into.
      return { changes: otherChanges(state, [{ key, value: undefined }, removal, ...confirmed]), result: node };
    });
  }

  watch(listener: (directory: NodeDirectory) => void): Disposable {
    return this.#directory.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#directory.forgetListeners();
  }

  /** Fails with `conflict` when the node has shards. */
  #checkIsFree(name: string, state: MetaState): void {
    const placed = this.#classesOn(name, state);
    if (placed.length === 0) return;
    const others = placed.length - NAMED_MAX;
    const named = [...placed.slice(0, NAMED_MAX), ...(others > 0 ? [`those of ${others} more classes`] : [])];
    throw new ShoalError(
      "conflict",
      `storage node '${name}' has shards, ${named.join(", ")}: delete these classes first, or start a node of this name, ` +
        "which may be on any machine; if its data is lost, CLUSTER_ACCEPT_DATA_LOSS=true lets it begin with empty shards",
    );
  }

  /** How many shards of which classes the node has. */
  #classesOn(name: string, state: MetaState): readonly string[] {
    return readSchema(this.#ledger.historyId, state).snapshot.classes.flatMap(({ definition, sharding, classId }) => {
      const count = sharding.shards.filter((shard) => nodesOf(state, classId, shard).includes(name)).length;
      return count === 0 ? [] : [`${count} of '${definition.class}'`];
    });
  }

  #follow(state: MetaState): void {
    const directory = readNodes(state, this.#expectedStorageNodes);
    if (directory.version !== this.#directory.known.version) this.#directory.set(directory);
  }
}

/** The nodes that stand in a state. */
export function readNodes(state: MetaState, expectedStorageNodes: number): NodeDirectory {
  const stored = storedNodes(state);
  const removedAt = Number(state.entries.get(LAST_REMOVAL_KEY) ?? 0);
  const version = stored.reduce((latest, { revision }) => Math.max(latest, revision), removedAt);
  const nodes = stored.map(recordOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { version, expectedStorageNodes, nodes };
}

/** The names of the copies of a new shard on these nodes. Fails with `unavailable` on a node that has no identity. */
export function newCopies(nodeNames: readonly string[], state: MetaState): readonly CopyName[] {
  return nodeNames.map((name) => {
    const identity = storedNode(state.entries.get(NODE_PREFIX + name))?.identity;
    if (identity !== undefined) return copyNameOf(name, identity);
    const message = `storage node '${name}' runs a version that cannot hold copies of shards: update it first`;
    throw new ShoalError("unavailable", message);
  });
}

function describeLost(lost: readonly LostShard[]): string {
  const named = lost.slice(0, NAMED_MAX).map(({ className, shardName }) => `'${className}' ${shardName}`);
  const more = lost.length > NAMED_MAX ? ", …" : "";
  return `, without the data of ${lost.length} shards that no other node has: ${named.join(", ")}${more}`;
}

function storedNodes(state: MetaState): readonly StoredNode[] {
  return Array.from(entriesUnder(NODE_PREFIX, state), ([, value]) => value as unknown as StoredNode);
}

function recordOf({ name, address, shoalVersion, gitHash }: StoredNode): NodeRecord {
  return { name, address, shoalVersion, gitHash };
}

function storedNode(value: Json | undefined): StoredNode | undefined {
  return value as unknown as StoredNode | undefined;
}

function unknownNode(name: string, nodes: readonly NodeRecord[]): ShoalError {
  const known = nodes.map((node) => `'${node.name}'`).join(", ") || "none";
  return new ShoalError("notFound", `there is no storage node '${name}', registered are: ${known}`);
}

function expectedNode(name: string, registered: number): ShoalError {
  return new ShoalError(
    "conflict",
    `storage node '${name}' is one of ${registered} that are registered, and as many are expected: without it no class ` +
      "could be made. Lower CLUSTER_EXPECTED_STORAGE_NODES of the coordinators first, or start the node that takes its place",
  );
}

function isSame(a: NodeRecord, b: NodeRecord): boolean {
  return a.address === b.address && a.shoalVersion === b.shoalVersion && a.gitHash === b.gitHash;
}
