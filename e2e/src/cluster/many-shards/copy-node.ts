import { randomBytes, randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { copyNameOf, identityOf } from "@shoal/coordinator";
import { ShoalError } from "@shoal/model";
import { type SchemaSnapshot, shardServiceBy } from "@shoal/rpc";
import { connectCoordinator, connectPeer, createRpcServer } from "@shoal/rpc/grpc";
import type { Shard } from "@shoal/shard";
import { type CopyPlace, NodeCopies, Peers, type ShardReplica } from "@shoal/storage-node";
import { type KeptCopy, NamedCopy, newCopy } from "./named-copy.js";

/*
 * A storage node whose copies of shards are real, and whose stores are not: `copy-node.js <name> <address of the coordinator> <file>`.
 * The file keeps what stores would. Orders come from the process that has forked it.
 */

/** What its parent process asks of it. */
export type CopyNodeOrder =
  /** Write to each shard whose primary is here, until the order `rest`. */
  { readonly type: "write" } | { readonly type: "rest" };

export interface CopyNodeReport {
  /** Copies here that are in sync, and those that are primary. Absent: as before. */
  readonly inSync?: number;
  readonly primaries?: number;
  /** Shards whose first write since the order was acknowledged since the last report. */
  readonly written: readonly string[];
}

const REPORT_MS = 100;
/** To count takes time, too. */
const COUNT_MS = 2_000;
const RETRY_MS = 50;
/** At the same time: clients of a node that is slow wait, too. */
const WRITES_MAX = 500;
const JOURNAL_KEEP_ENTRIES = 1_000;
/** A store takes no time to open here: so many beside each other. */
const OPENING_MAX = 64;
/** As `ShardRegistry` does with a shard that could not be opened. */
const REOPEN_MS = 5_000;
const LEASE_MS = 2_000;
const CALL_MS = 10_000;

const [nodeName = "", coordinatorAddress = "", file = ""] = process.argv.slice(2);
const now = () => Date.now();
const context = () => ({ deadline: now() + CALL_MS });

const kept = new Map<string, KeptCopy>();
let secret = randomBytes(16).toString("hex");
if (existsSync(file)) {
  const [first = "", ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  secret = first;
  for (const line of lines) {
    const { shard, ...copy } = JSON.parse(line) as KeptCopy & { readonly shard: string };
    kept.set(shard, copy);
  }
} else {
  appendFileSync(file, `${secret}\n`);
}

function keep(shard: string, copy: KeptCopy): void {
  kept.set(shard, copy);
  appendFileSync(file, `${JSON.stringify({ shard, ...copy })}\n`);
}

const coordinator = connectCoordinator([coordinatorAddress], { now });
const peers = new Peers({
  nodeName,
  nodes: coordinator.nodes,
  connect: (name, address) => connectPeer(name, address, { from: nodeName }),
});
const copies = new NodeCopies({
  nodeName,
  ownCopy: copyNameOf(nodeName, identityOf(secret)),
  service: coordinator.copies,
  send: (node, message) => peers.send(node, message),
  now: () => performance.now(),
  clock: now,
  newId: () => randomBytes(6).toString("hex"),
  leaseMs: LEASE_MS,
  journalKeepEntries: JOURNAL_KEEP_ENTRIES,
  transferBytesPerSecond: Number.POSITIVE_INFINITY,
});
copies.onEvent((event) => {
  if (event.type === "copyFailed" || event.type === "catchUpFailed") console.error(event.type, event.error);
});

const seen = new Set<string>();
const waiting: (() => Promise<void>)[] = [];
let opening = 0;
let schemaVersion = 0;

function follow(snapshot: SchemaSnapshot): void {
  schemaVersion = snapshot.version;
  for (const record of snapshot.classes) {
    for (const { name: shardName, members } of record.sharding.shards) {
      const key = `${record.classId}/${shardName}`;
      if (!members.includes(nodeName) || seen.has(key)) continue;
      seen.add(key);
      const address = { classId: record.classId, className: record.definition.class, shardName };
      waiting.push(async () => void (await copies.open(address, record, placeOf(key))));
    }
  }
  openAll();
}

function openAll(): void {
  for (; opening < OPENING_MAX; opening++) void openWaiting().finally(() => opening--);
}

async function openWaiting(): Promise<void> {
  for (let open = waiting.shift(); open !== undefined; open = waiting.shift()) {
    const again = open;
    await open().catch((thrown: unknown) => {
      console.error(thrown instanceof Error ? thrown.message : thrown);
      setTimeout(() => {
        waiting.push(again);
        openAll();
      }, REOPEN_MS);
    });
  }
}

const condition = () => ({ objectCount: 0, status: "ready", reason: undefined });

function placeOf(key: string): CopyPlace {
  return {
    isMade: kept.has(key),
    hasStore: async () => kept.has(key),
    clear: async () => void kept.delete(key),
    keepMade: async () => undefined,
    damage: async () => undefined,
    keepDamage: async () => undefined,
    async open(_isMade, { name, since, carrier }) {
      const copy = new NamedCopy(kept.get(key) ?? newCopy(name, since), carrier, (state) => keep(key, state));
      // Of all that a shard does, copies need this alone.
      const shard = { copy, condition, [Symbol.asyncDispose]: async () => undefined } as unknown as Shard;
      stores.set(key, copy);
      return { shard, store: { [Symbol.asyncDispose]: async () => undefined } };
    },
  };
}

const stores = new Map<string, NamedCopy>();
let isWriting = false;
const written = new Set<string>();
let news: string[] = [];

async function write(replica: ShardReplica): Promise<void> {
  const store = stores.get(replica.key);
  try {
    await store?.put(randomUUID());
    news.push(replica.key);
  } catch (thrown) {
    if (!(thrown instanceof ShoalError)) throw thrown;
    written.delete(replica.key);
  }
}

let writing = 0;
let turn = copies.replicas[Symbol.iterator]();
setInterval(() => {
  while (isWriting && writing < WRITES_MAX) {
    const { done, value: replica } = turn.next();
    if (done) {
      turn = copies.replicas[Symbol.iterator]();
      return;
    }
    if (!replica.isPrimary || written.has(replica.key)) continue;
    written.add(replica.key);
    writing++;
    void write(replica).finally(() => writing--);
  }
}, RETRY_MS);

setInterval(() => {
  if (news.length > 0) process.send?.({ written: news } satisfies CopyNodeReport);
  news = [];
}, REPORT_MS);

setInterval(() => {
  const replicas = [...copies.replicas];
  const inSync = replicas.filter((replica) => replica.isInSync).length;
  const primaries = replicas.filter(({ isPrimary }) => isPrimary).length;
  process.send?.({ inSync, primaries, written: [] } satisfies CopyNodeReport);
}, COUNT_MS);

process.on("message", ({ type }: CopyNodeOrder) => {
  isWriting = type === "write";
  written.clear();
  news = [];
});
process.on("disconnect", () => process.exit());

const service = shardServiceBy(async () => {
  throw new ShoalError("unavailable", "this node has no rows");
});
const identity = identityOf(secret);
const processId = randomUUID();
const node = {
  ...service,
  name: nodeName,
  get schemaVersion() {
    return schemaVersion;
  },
  atSchemaVersion: () => undefined,
};
const server = await createRpcServer(
  { node, presence: { identity, process: processId }, peers: copies },
  { host: "127.0.0.1", port: 0, connectionsMax: 100, now },
);
const address = `127.0.0.1:${server.port}`;
await coordinator.nodes.register({ name: nodeName, address, shoalVersion: "", gitHash: "" }, context(), {
  secret,
  process: processId,
  replaces: false,
});
coordinator.schema.watch(follow);
