import { type ClassDefinition, ShoalError } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot, ShardAddress } from "@shoal/rpc";
import type { IdCensus, Shard, ShardSettings } from "@shoal/shard";
import type { ShardFolders } from "./shard-folders.js";

/** Shards that are being opened at the same time. */
const OPENING_MAX = 4;

/** A shard that could not be opened is tried again when it is asked for after so long. */
const REOPEN_AFTER_MS = 5_000;

export type ShardRegistryEvent =
  | { readonly type: "shardFailed"; readonly shard: ShardAddress; readonly error: ShoalError }
  | { readonly type: "classDropped"; readonly classId: string }
  | { readonly type: "dropFailed"; readonly classId: string; readonly error: ShoalError }
  | { readonly type: "unknownClassOnDisk"; readonly classId: string; readonly folder: string };

export interface ShardRegistryOptions {
  readonly nodeName: string;
  /** Of the schema that is followed (`MetaStore.historyId`). */
  readonly historyId: string;
  readonly folders: ShardFolders;
  /** Opens or creates the shard whose data lies in `folder`. */
  readonly openShard: (shard: ShardAddress, record: ClassRecord, folder: string) => Promise<OpenedShard>;
  readonly clock: () => number;
  readonly onEvent: (event: ShardRegistryEvent) => void;
}

/** A shard together with the store under it, which is closed after it. */
export interface OpenedShard {
  readonly shard: Shard;
  readonly store: AsyncDisposable;
}

/** A shard that the schema places on this node. */
export interface PlacedShard {
  readonly address: ShardAddress;
  /** The address alone, as an answer that need not be made for each question. */
  readonly answer: readonly [ShardAddress];
  /** Undefined while it is being opened, and when that has failed: `get` says why. */
  readonly ready: Shard | undefined;
}

export interface ReadyShard extends PlacedShard {
  readonly ready: Shard;
}

export interface PlacedShards {
  readonly all: readonly PlacedShard[];
  /** The same when all are open. */
  readonly ready: readonly ReadyShard[] | undefined;
  /** Counts the ids of all of them; undefined when not all are open, or one is not counted with the others. */
  readonly census: IdCensus | undefined;
}

interface OpenShard extends PlacedShard {
  readonly opened: Promise<OpenedShard>;
  /** Set when the shard is open, so that hot paths need not wait for a promise. */
  ready: Shard | undefined;
  failure: { readonly error: ShoalError; readonly atMs: number } | undefined;
  definition: ClassDefinition;
}

/** The open shards of one node. Follows the schema: opens what is placed here, configures, closes and drops. */
export class ShardRegistry implements AsyncDisposable {
  readonly #options: ShardRegistryOptions;
  readonly #shards = new Map<string, OpenShard>();
  /** The same as a list; undefined after a change. */
  #placed: PlacedShards | undefined;
  #snapshot: SchemaSnapshot = { version: 0, classes: [] };
  #slots = OPENING_MAX;
  readonly #waiting: (() => void)[] = [];
  #dropping: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: ShardRegistryOptions) {
    this.#options = options;
  }

  /** Opens all shards of the schema that are placed here; resolves when each one is open or has failed. */
  async start(snapshot: SchemaSnapshot): Promise<void> {
    this.follow(snapshot);
    const known = new Set(snapshot.classes.map(({ classId }) => classId));
    const { folders, historyId } = this.#options;
    const { deleted, unknown } = await folders.strangers({ historyId, version: snapshot.version }, known);
    for (const classId of deleted) this.#drop(classId);
    for (const classId of unknown)
      this.#options.onEvent({ type: "unknownClassOnDisk", classId, folder: folders.classFolder(classId) });
    await Promise.allSettled([...this.#shards.values()].map(({ opened }) => opened));
  }

  /** Takes over a new schema. */
  follow(snapshot: SchemaSnapshot): void {
    if (this.#closed) return;
    this.#snapshot = snapshot;
    const classIds = new Set(snapshot.classes.map(({ classId }) => classId));
    const gone = new Set<string>();
    for (const { address } of this.#shards.values()) if (!classIds.has(address.classId)) gone.add(address.classId);
    for (const classId of gone) this.#drop(classId);
    for (const record of snapshot.classes) this.#followClass(record);
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

  /** The open shard of that address. Fails with `unavailable`, naming shard and node. */
  get(address: ShardAddress): Shard | Promise<Shard> {
    const open = this.#shards.get(keyOf(address));
    if (open?.ready !== undefined) return open.ready;
    return this.#opened(address, open);
  }

  /** Closes a shard that has failed for good and opens it anew; requests wait for that. */
  renew(address: ShardAddress, failed: Shard): void {
    const open = this.#shards.get(keyOf(address));
    const record = this.#snapshot.classes.find(({ classId }) => classId === address.classId);
    if (open?.ready !== failed || record === undefined || this.#closed) return;
    const error = new ShoalError("unavailable", failed.condition().reason ?? "it has failed");
    this.#options.onEvent({ type: "shardFailed", shard: open.address, error });
    this.#open(open.address, record, close(open));
  }

  /** Every shard that is placed here, open or not. */
  *all(): Iterable<{ address: ShardAddress; shard: Shard | undefined; error: ShoalError | undefined }> {
    for (const { address, ready, failure } of this.#shards.values()) {
      yield { address, shard: ready, error: failure?.error };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const open = [...this.#shards.values()];
    this.#shards.clear();
    this.#placed = undefined;
    const closed = await Promise.allSettled(open.map(close));
    await this.#dropping;
    for (const result of closed) if (result.status === "rejected") throw result.reason;
  }

  #followClass(record: ClassRecord): void {
    for (const { name, members } of record.sharding.shards) {
      if (!members.includes(this.#options.nodeName)) continue;
      const address = { classId: record.classId, className: record.definition.class, shardName: name };
      const open = this.#shards.get(keyOf(address));
      if (open === undefined) this.#open(address, record);
      else configure(open, record.definition);
    }
  }

  /** `closed`: settles when the one that was open before has let go of its files. */
  #open(address: ShardAddress, record: ClassRecord, closed?: Promise<void>): OpenShard {
    const open: OpenShard = {
      address,
      answer: [address],
      opened: this.#openInTurn(address, record, closed),
      ready: undefined,
      failure: undefined,
      definition: record.definition,
    };
    this.#shards.set(keyOf(address), open);
    this.#placed = undefined;
    open.opened.then(
      ({ shard }) => {
        open.ready = shard;
        this.#placed = undefined;
        shard.configure(settingsOf(open.definition));
      },
      (thrown: unknown) => {
        const error = ShoalError.from(thrown);
        open.failure = { error, atMs: this.#options.clock() };
        this.#options.onEvent({ type: "shardFailed", shard: address, error });
      },
    );
    return open;
  }

  async #openInTurn(address: ShardAddress, record: ClassRecord, closed?: Promise<void>): Promise<OpenedShard> {
    await closed?.catch(() => undefined);
    const { folders, historyId, openShard } = this.#options;
    if (this.#slots === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#slots--;
    try {
      const marker = { className: address.className, historyId, schemaVersion: this.#snapshot.version };
      const folder = await folders.shard(address.classId, address.shardName, marker);
      return await openShard(address, record, folder);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#slots++;
      else next();
    }
  }

  async #opened(address: ShardAddress, open: OpenShard | undefined): Promise<Shard> {
    const where = `shard ${address.shardName} of class '${address.className}' on node '${this.#options.nodeName}'`;
    const current = open?.failure === undefined ? open : this.#reopened(open);
    if (current === undefined) {
      throw new ShoalError("unavailable", `${where} is not there`, { retryAfterSeconds: 1 });
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

  /** A failed shard, being opened anew when its failure is old enough. */
  #reopened(open: OpenShard): OpenShard | undefined {
    if (open.failure === undefined || this.#options.clock() - open.failure.atMs < REOPEN_AFTER_MS) return open;
    const record = this.#snapshot.classes.find(({ classId }) => classId === open.address.classId);
    return record === undefined ? undefined : this.#open(open.address, record);
  }

  #drop(classId: string): void {
    const ofClass = [...this.#shards.values()].filter(({ address }) => address.classId === classId);
    for (const { address } of ofClass) this.#shards.delete(keyOf(address));
    this.#placed = undefined;
    const dropped = this.#dropping.then(async () => {
      await Promise.all(ofClass.map(close));
      await this.#options.folders.drop(classId);
    });
    this.#dropping = dropped.then(
      () => this.#options.onEvent({ type: "classDropped", classId }),
      (thrown: unknown) => this.#options.onEvent({ type: "dropFailed", classId, error: ShoalError.from(thrown) }),
    );
  }
}

function placedShards(all: readonly PlacedShard[]): PlacedShards {
  const ready = all.filter((shard): shard is ReadyShard => shard.ready !== undefined);
  if (ready.length < all.length) return { all, ready: undefined, census: undefined };
  const census = ready[0]?.ready.idCensus;
  return { all, ready, census: ready.every((shard) => shard.ready.idCensus === census) ? census : undefined };
}

function keyOf({ classId, shardName }: ShardAddress): string {
  return `${classId}/${shardName}`;
}

function configure(open: OpenShard, definition: ClassDefinition): void {
  const before = open.definition;
  open.definition = definition;
  const { vectorIndexConfig, properties } = definition;
  if (before.vectorIndexConfig === vectorIndexConfig && before.properties === properties) return;
  open.ready?.configure(settingsOf(definition));
}

function settingsOf({ vectorIndexConfig, properties }: ClassDefinition): ShardSettings {
  return { vectorIndexConfig, properties: properties ?? [] };
}

async function close({ opened }: OpenShard): Promise<void> {
  const both = await opened.catch(() => undefined);
  try {
    await both?.shard[Symbol.asyncDispose]();
  } finally {
    await both?.store[Symbol.asyncDispose]();
  }
}
