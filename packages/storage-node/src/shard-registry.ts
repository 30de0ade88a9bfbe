import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import {
  type ClassRecord,
  type CopyReport,
  goesOnFrom,
  initialConfigurations,
  type SchemaSnapshot,
  type ShardAddress,
  ShardMoved,
  shardKeyOf,
} from "@shoal/rpc";
import { Gate } from "@shoal/runtime";
import type { IdPresenceFilter, Shard, ShardSettings } from "@shoal/shard";
import { copyReport } from "./copies/copy-report.js";
import type { NodeCopies } from "./copies/node-copies.js";
import type { ReplicaEvent } from "./copies/replica-event.js";
import type { ShardReplica } from "./copies/shard-replica.js";
import type { OpenedShard } from "./opened-shard.js";
import { SeenEpochs } from "./seen-epochs.js";
import type { ShardFolders } from "./shard-folders.js";

/** Shards that are being opened at the same time. */
const OPENING_MAX = 4;

/** A copy whose store has failed, or is damaged, is opened again so soon, after it has let another one be primary. */
const REOPEN_COPY_AFTER_MS = 2_000;
const HAND_OVER_MS_MAX = 5_000;
const LEAVE_MS_MAX = 2_000;

/** A shard that could not be opened is tried again when it is asked for after so long. */
const REOPEN_AFTER_MS = 5_000;

export type ShardRegistryEvent =
  | { readonly type: "shardFailed"; readonly shard: ShardAddress; readonly error: ShoalError }
  | { readonly type: "classDropped"; readonly classId: string }
  | { readonly type: "dropFailed"; readonly classId: string; readonly error: ShoalError }
  | { readonly type: "unknownClassOnDisk"; readonly classId: string; readonly folder: string };

export interface ShardRegistryOptions {
  readonly nodeName: string;
  readonly folders: ShardFolders;
  /** Opens or creates the shard whose data lies in `folder`. */
  readonly openShard: (shard: ShardAddress, record: ClassRecord, folder: string) => Promise<OpenedShard>;
  /** Of the shards with copies: what becomes of them. */
  readonly copies?: Pick<NodeCopies, "onEvent" | "expect" | "failed" | "forget" | "nameOf"> | undefined;
  readonly clock: () => number;
  readonly onEvent: (event: ShardRegistryEvent) => void;
}

/** A shard that the schema places on this node. */
export interface PlacedShard {
  readonly address: ShardAddress;
  /** The address alone, as a response that need not be made for each question. */
  readonly response: readonly [ShardAddress];
  /** Undefined while it is being opened, and when that has failed: `get` says why. */
  readonly ready: Shard | undefined;
  /** Of an open shard with copies. */
  readonly replica: ShardReplica | undefined;
}

export interface ReadyShard extends PlacedShard {
  readonly ready: Shard;
}

export interface PlacedShards {
  readonly all: readonly PlacedShard[];
  /** The same when all are open. */
  readonly ready: readonly ReadyShard[] | undefined;
  /** Whether some of them have copies. */
  readonly hasReplicas: boolean;
  /** Counts the ids of all of them; undefined when not all are open, or one is not counted with the others. */
  readonly presenceFilter: IdPresenceFilter | undefined;
}

interface OpenShard extends PlacedShard {
  readonly opened: Promise<OpenedShard>;
  /** Set when the shard is open, so that hot paths need not wait for a promise. */
  ready: Shard | undefined;
  replica: ShardReplica | undefined;
  store: OpenedShard["store"] | undefined;
  failure: { readonly error: ShoalError; readonly atMs: number } | undefined;
  /** While it is being opened again: why it has to be. */
  readonly failedBefore: ShoalError | undefined;
  record: ClassRecord;
}

/** The open shards of one node. Follows the schema: opens what is placed here, configures, closes and drops. */
export class ShardRegistry implements AsyncDisposable {
  readonly #options: ShardRegistryOptions;
  readonly #shards = new Map<string, OpenShard>();
  readonly #epochs: SeenEpochs;
  /** The same as a list; undefined after a change. */
  #placed: PlacedShards | undefined;
  #snapshot: SchemaSnapshot = { historyId: "", version: 0, classes: [] };
  readonly #opening = new Gate({ max: OPENING_MAX });
  #dropping: Promise<unknown> = Promise.resolve();
  /** Classes whose shards were open: resolves when the last write into them has ended. */
  readonly #draining = new Map<string, Promise<unknown>>();
  /** Whether the classes on disk have been compared with the schema. */
  #isSwept = false;
  #sweeping: Promise<void> = Promise.resolve();
  readonly #copyEvents: Disposable | undefined;
  #closed = false;

  constructor(options: ShardRegistryOptions) {
    this.#options = options;
    this.#epochs = new SeenEpochs(options.nodeName);
    this.#copyEvents = options.copies?.onEvent((event) => this.#followCopy(event));
  }

  /** Opens all shards of the schema that are placed here; resolves when each one is open or has failed. */
  async start(snapshot: SchemaSnapshot, isConfirmed: boolean): Promise<void> {
    this.follow(snapshot, isConfirmed);
    await this.#sweeping;
    await Promise.allSettled([...this.#shards.values()].map(({ opened }) => opened));
  }

  /**
   * Takes over a new schema. Data is dropped because of a schema of the coordinator (`isConfirmed`) that goes on from
   * the one before it, and because of no other: a remembered one may be old, another history means a loss.
   */
  follow(snapshot: SchemaSnapshot, isConfirmed: boolean): void {
    if (this.#closed) return;
    const before = this.#snapshot;
    const goesOn = isConfirmed && goesOnFrom(snapshot, before);
    this.#snapshot = snapshot;
    const known = new Set(snapshot.classes.map(({ classId }) => classId));
    const gone = new Set<string>();
    for (const { address } of this.#shards.values()) if (!known.has(address.classId)) gone.add(address.classId);
    for (const classId of gone) this.#drop(classId, goesOn);
    for (const record of snapshot.classes) this.#followClass(record);
    if (!isConfirmed || (goesOn && this.#isSwept)) return;
    this.#isSwept = false;
    this.#sweeping = this.#sweep(snapshot, goesOn ? new Set([...known, ...gone]) : known);
    // `start` tells; later on it is done again with the next schema.
    this.#sweeping.catch(() => undefined);
  }

  /** Drops the classes on disk that the schema had once and has no more, and tells of those that it knows nothing of. */
  async #sweep(snapshot: SchemaSnapshot, known: ReadonlySet<string>): Promise<void> {
    const { folders, onEvent } = this.#options;
    const { deleted, unknown } = await folders.strangers(snapshot, known);
    // Classes that were made meanwhile.
    const placed = new Set(Array.from(this.#shards.values(), ({ address }) => address.classId));
    for (const classId of deleted) if (!placed.has(classId)) this.#drop(classId, true);
    for (const classId of unknown) {
      if (!placed.has(classId)) onEvent({ type: "unknownClassOnDisk", classId, folder: folders.classFolder(classId) });
    }
    this.#isSwept = true;
  }

  /** Version of the schema that is followed. */
  get schemaVersion(): number {
    return this.#snapshot.version;
  }

  /** Every shard that the schema places here; the same lists until that changes. */
  get placed(): PlacedShards {
    this.#placed ??= placedShards([...this.#shards.values()]);
    return this.#placed;
  }

  /** The open shard of that address. Fails with `unavailable`, naming shard and node, with `conflict` on an epoch that is over. */
  get(address: ShardAddress): Shard | Promise<Shard> {
    const key = shardKeyOf(address);
    const open = this.#shards.get(key);
    this.#epochs.check(key, address, open?.address);
    if (open?.ready !== undefined) return open.ready;
    return this.#opened(address, open);
  }

  /** Closes a shard that has failed for good and opens it again; requests wait for that. */
  renew(address: ShardAddress, failed: Shard): void {
    const open = this.#shards.get(shardKeyOf(address));
    const record = this.#snapshot.classes.find(({ classId }) => classId === address.classId);
    if (open?.ready !== failed || record === undefined || this.#closed) return;
    const error = new ShoalError("unavailable", failed.condition().reason ?? "it has failed");
    this.#options.onEvent({ type: "shardFailed", shard: open.address, error });
    this.#open(open.address, record, close(open), error);
  }

  /** Resolves when no write into a class that the schema no longer has is under way; none is accepted any more. */
  async whenRefused(classId: string): Promise<void> {
    await this.#draining.get(classId);
  }

  /** Of the copies that are open or damaged. */
  copyReports(): readonly CopyReport[] {
    return this.all.flatMap((shard) => copyReport(shard, this.#options.copies?.nameOf(shard.address)) ?? []);
  }

  /** Every shard that is placed here, open or not. */
  get all(): readonly Pick<
    OpenShard,
    "address" | "opened" | "ready" | "replica" | "store" | "failure" | "failedBefore"
  >[] {
    return [...this.#shards.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#copyEvents?.[Symbol.dispose]();
    const open = [...this.#shards.values()];
    this.#shards.clear();
    this.#placed = undefined;
    const closed = await Promise.allSettled(open.map(close));
    await this.#dropping;
    for (const result of closed) if (result.status === "rejected") throw result.reason;
  }

  #followClass(record: ClassRecord): void {
    const { classId, definition } = record;
    for (const { name: shardName, members, epoch } of record.sharding.shards) {
      const address = { classId, className: definition.class, shardName, ...(epoch === undefined ? {} : { epoch }) };
      const key = shardKeyOf(address);
      this.#epochs.note(key, epoch);
      if (!members.includes(this.#options.nodeName)) continue;
      const open = this.#shards.get(key);
      if (open === undefined) this.#open(address, record);
      // What it writes carries its epoch.
      else if (open.address.epoch !== epoch) this.#open(address, record, close(open));
      else this.#configure(open, record);
    }
  }

  /** `closed`: settles when the one that was open before has let go of its files. `failedBefore`: why it is opened again. */
  #open(address: ShardAddress, record: ClassRecord, closed?: Promise<void>, failedBefore?: ShoalError): OpenShard {
    const open: OpenShard = {
      address,
      response: [address],
      opened: this.#openInTurn(address, record, closed),
      ready: undefined,
      replica: undefined,
      store: undefined,
      failure: undefined,
      failedBefore,
      record,
    };
    this.#shards.set(shardKeyOf(address), open);
    this.#placed = undefined;
    this.#options.copies?.expect(address, record);
    open.opened.then(
      ({ shard, replica, store }) => {
        open.ready = shard;
        open.replica = replica;
        open.store = store;
        this.#placed = undefined;
        shard.configure(shardSettings(open.record, this.#options.nodeName));
      },
      (thrown: unknown) => {
        const error = ShoalError.from(thrown);
        open.failure = { error, atMs: this.#options.clock() };
        this.#options.copies?.failed(address);
        // Nobody asks for a copy that is not in sync.
        if (hasCopies(open)) setTimeout(() => this.#reopenCopy(open), REOPEN_AFTER_MS + 100).unref();
        this.#options.onEvent({ type: "shardFailed", shard: address, error });
      },
    );
    return open;
  }

  async #openInTurn(address: ShardAddress, record: ClassRecord, closed?: Promise<void>): Promise<OpenedShard> {
    await closed?.catch(() => undefined);
    const { folders, openShard } = this.#options;
    const { historyId, version: schemaVersion } = this.#snapshot;
    return this.#opening.run(1, {}, async () => {
      const marker = { className: address.className, historyId, schemaVersion };
      const folder = await folders.shard(address.classId, address.shardName, marker);
      return openShard(address, record, folder);
    });
  }

  #configure(open: OpenShard, record: ClassRecord): void {
    const { definition, sharding } = open.record;
    open.record = record;
    const { vectorIndexConfig, properties } = record.definition;
    const isSame = definition.vectorIndexConfig === vectorIndexConfig && definition.properties === properties;
    if (isSame && sharding === record.sharding) return;
    open.ready?.configure(shardSettings(record, this.#options.nodeName));
  }

  async #opened(address: ShardAddress, open: OpenShard | undefined): Promise<Shard> {
    const where = `shard ${address.shardName} of class '${address.className}' on node '${this.#options.nodeName}'`;
    const current = open?.failure === undefined ? open : this.#reopened(open);
    if (current === undefined) {
      throw new ShoalError("unavailable", `${where} is not there`, { retryAfterSeconds: 1 });
    }
    if (current.ready === undefined && hasCopies(current)) {
      // Others need not wait for it.
      const why = current.failure?.error.message ?? "it is being opened";
      throw new ShardMoved(`${where} does not answer: ${why}`);
    }
    try {
      return (await current.opened).shard;
    } catch (thrown) {
      throw new ShoalError("unavailable", `${where} could not be opened: ${ShoalError.from(thrown).message}`, {
        cause: thrown,
        retryAfterSeconds: REOPEN_AFTER_MS / 1000,
      });
    }
  }

  /**
   * A copy that belongs to the shard no more is removed; one whose store has failed is opened again, and so is a damaged one: that fails,
   * now and after a restart, while another copy is in sync.
   */
  #followCopy(event: ReplicaEvent): void {
    if (event.type !== "discarded" && event.type !== "copyFailed" && event.type !== "copyDamaged") return;
    const key = shardKeyOf(event.shard);
    const open = this.#shards.get(key);
    if (open === undefined || this.#closed) return;
    const { classId, shardName } = open.address;
    const { folders } = this.#options;
    const again = async (): Promise<void> => {
      if (event.type === "copyDamaged") {
        // Where this cannot be written the copy opens as if it was whole, until the damage is read again.
        await folders.keepDamage(classId, shardName, event.error.message).catch(() => undefined);
      }
      // Its disk may stay as it is: another copy is primary meanwhile.
      if (event.type !== "discarded") await open.replica?.handOver(HAND_OVER_MS_MAX);
      // A damaged secondary of an idle shard would stay in sync: its node is heard.
      if (event.type === "copyDamaged") await open.replica?.leave(LEAVE_MS_MAX);
      await close(open);
      if (event.type === "discarded") await folders.removeShard(classId, shardName);
      else await sleep(REOPEN_COPY_AFTER_MS);
    };
    const record = this.#snapshot.classes.find((one) => one.classId === classId);
    const failedBefore = event.type === "discarded" ? undefined : event.error;
    if (record !== undefined) this.#open(open.address, record, again(), failedBefore);
  }

  /** A failed shard, being reopened when its failure is old enough. */
  #reopened(open: OpenShard): OpenShard | undefined {
    if (open.failure === undefined || this.#options.clock() - open.failure.atMs < REOPEN_AFTER_MS) return open;
    const record = this.#snapshot.classes.find(({ classId }) => classId === open.address.classId);
    return record === undefined ? undefined : this.#open(open.address, record, undefined, open.failure.error);
  }

  #reopenCopy(open: OpenShard): void {
    if (!this.#closed && this.#shards.get(shardKeyOf(open.address)) === open) this.#reopened(open);
  }

  /** Closes the shards of a class; `andData`: removes their folders, too. */
  #drop(classId: string, andData: boolean): void {
    const ofClass = [...this.#shards.values()].filter(({ address }) => address.classId === classId);
    for (const { address } of ofClass) this.#shards.delete(shardKeyOf(address));
    this.#placed = undefined;
    const draining = Promise.allSettled(
      ofClass.map(async ({ address, opened }) => {
        const both = await opened.catch(() => undefined);
        // One that could not be opened has accepted nothing.
        if (both === undefined) this.#options.copies?.forget(address);
        await both?.shard.drain();
      }),
    );
    this.#draining.set(classId, draining);
    draining.finally(() => this.#draining.delete(classId));
    const dropped = this.#dropping.then(async () => {
      await Promise.all(ofClass.map(close));
      for (const { address } of ofClass) this.#options.copies?.forget(address);
      if (andData) await this.#options.folders.drop(classId);
    });
    this.#dropping = dropped.then(
      () => (andData ? this.#options.onEvent({ type: "classDropped", classId }) : undefined),
      (thrown: unknown) => this.#options.onEvent({ type: "dropFailed", classId, error: ShoalError.from(thrown) }),
    );
  }
}

function placedShards(all: readonly PlacedShard[]): PlacedShards {
  const ready = all.filter((shard): shard is ReadyShard => shard.ready !== undefined);
  const hasReplicas = ready.some(({ replica }) => replica !== undefined);
  if (ready.length < all.length) return { all, ready: undefined, hasReplicas, presenceFilter: undefined };
  const presenceFilter = ready[0]?.ready.idPresenceFilter;
  return {
    all,
    ready,
    hasReplicas,
    presenceFilter: ready.every((shard) => shard.ready.idPresenceFilter === presenceFilter)
      ? presenceFilter
      : undefined,
  };
}

function hasCopies({ address, record }: Pick<OpenShard, "address" | "record">): boolean {
  return initialConfigurations(record.sharding).has(address.shardName);
}

/** What a class says of each of its shards on a node. These share its number of vectors in memory, for the memory is the node's. */
export function shardSettings({ definition, sharding }: ClassRecord, nodeName: string): ShardSettings {
  const { vectorIndexConfig, properties } = definition;
  const here = Math.max(1, sharding.shards.filter(({ members }) => members.includes(nodeName)).length);
  const vectorCacheMaxObjects = Math.ceil(vectorIndexConfig.vectorCacheMaxObjects / here);
  return { vectorIndexConfig: { ...vectorIndexConfig, vectorCacheMaxObjects }, properties: properties ?? [] };
}

async function close({ opened }: OpenShard): Promise<void> {
  const both = await opened.catch(() => undefined);
  try {
    await both?.shard[Symbol.asyncDispose]();
  } finally {
    await both?.store[Symbol.asyncDispose]();
  }
}
