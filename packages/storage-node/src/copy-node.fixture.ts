import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyValueStore } from "@shoal/kv";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type DataObject, type ObjectId, ShoalError, type StoredObject } from "@shoal/model";
import type {
  ClassRecord,
  CopiesSnapshot,
  CopyDecision,
  CopyProposal,
  CopyService,
  NodeMessage,
  SchemaSnapshot,
  ShardAddress,
} from "@shoal/rpc";
import type { MemoryBudget } from "@shoal/runtime";
import { type CopyOptions, openShard, type Shard, type VectorIndexes } from "@shoal/shard";
import { FencedStore } from "@shoal/shard/testing/fenced-store";
import { ALL_FIELDS, idOf, numberOf } from "@shoal/shard/testing/ids-and-fields";
import { ScannedIndex } from "@shoal/shard/testing/scanned-index";
import { storedRows } from "@shoal/shard/testing/stored-rows";
import { NodeCopies } from "./copies/node-copies.js";
import type { ReplicaEvent } from "./copies/replica-event.js";
import type { ShardReplica } from "./copies/shard-replica.js";
import { ShardFolders } from "./shard-folders.js";
import { ShardRegistry, type ShardRegistryEvent, shardSettings } from "./shard-registry.js";

/** What is around a node. */
export interface AroundNode {
  readonly service: Pick<CopyService, "watch"> & {
    current(): Promise<CopiesSnapshot>;
    propose(node: string, proposals: readonly CopyProposal[]): Promise<readonly CopyDecision[]>;
  };
  /** Nodes that do not reach `service`. */
  readonly withoutService: ReadonlySet<string>;
  readonly snapshot: SchemaSnapshot;
  readonly leaseMs: number;
  send(from: string, to: string, message: NodeMessage): void;
  /** Of a process. */
  memoryOf(node: string): MemoryBudget;
  /** Of a shard that is opened. */
  vectorIndexes(node: string): VectorIndexes;
  /** Stands between a shard and its store. */
  wrap(store: KeyValueStore, node: string, classId: string): KeyValueStore;
  /** Awaited before a store is opened or made. */
  opening(node: string, classId: string): Promise<void>;
}

/** `folder`: how many the node has had. */
export function ownCopyOf(node: string, folder = 1): string {
  return `${node}/${folder}`;
}

export function addressOf(classId: string): ShardAddress {
  return { classId, className: "Book", shardName: "s1" };
}

const STORE_FILE = "store";

/** One process of a node: dead, it neither sends nor writes. */
interface NodeProcess {
  readonly life: { isAlive: boolean };
  readonly copies: NodeCopies;
  readonly registry: ShardRegistry;
  readonly fences: FencedStore[];
}

/** A node with its disk, and the process that runs on it. */
export class CopyNode implements AsyncDisposable {
  readonly events: (ReplicaEvent | ShardRegistryEvent)[] = [];
  /** By class: what the stores of the shards hold, while their folder says that they are there. */
  readonly stores = new Map<string, MemoryStore>();
  /** What is found damaged in each store that is opened. */
  damage: string | undefined;
  isLossAccepted = false;
  #process: NodeProcess | undefined;
  #starts = 0;
  #folders = 1;

  constructor(
    readonly world: AroundNode,
    readonly name: string,
    readonly root: string,
  ) {}

  get copies(): NodeCopies {
    return this.#running.copies;
  }
  get registry(): ShardRegistry {
    return this.#running.registry;
  }
  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  replica(classId = "books"): ShardReplica | undefined {
    return this.#process?.copies.replica(`${classId}/s1`);
  }

  async shard(classId = "books"): Promise<Shard> {
    return this.registry.get(addressOf(classId));
  }

  async start(): Promise<void> {
    const folders = await ShardFolders.open(join(this.root, "shards"));
    const { world, name } = this;
    this.#starts++;
    let ids = 0;
    const start = this.#starts;
    const life = { isAlive: true };
    const isAlive = () => life.isAlive;
    const copies = new NodeCopies({
      nodeName: name,
      ownCopy: ownCopyOf(name, this.#folders),
      service: this.#service(isAlive),
      send: (to, message) => {
        if (isAlive()) world.send(name, to, message);
      },
      now: () => performance.now(),
      clock: () => Date.now(),
      newId: () => `${name}-${start}-${++ids}`,
      leaseMs: world.leaseMs,
      journalKeepEntries: 20,
      transferBytesPerSecond: 1e9,
      isLossAccepted: this.isLossAccepted,
    });
    const memory = world.memoryOf(name);
    copies.memory.boundBy(memory);
    const fences: FencedStore[] = [];
    const registry = new ShardRegistry({
      ...{ nodeName: name, folders, copies, clock: () => Date.now(), onEvent: (event) => this.events.push(event) },
      openShard: (address, record, folder) =>
        copies.open(address, record, {
          isMade: folders.isMade(address.classId, address.shardName),
          hasStore: () => isThere(join(folder, STORE_FILE)),
          clear: async () => {
            await folders.removeShard(address.classId, address.shardName);
            await mkdir(folder, { recursive: true });
          },
          keepMade: () => folders.keepMade(address.classId, address.shardName),
          damage: () => folders.damage(address.classId, address.shardName),
          keepDamage: (reason) => folders.keepDamage(address.classId, address.shardName, reason),
          open: (isMade, copy) => this.#open({ record, folder, fences, isMade, copy, start, memory }),
        }),
    });
    const process: NodeProcess = { life, copies, registry, fences };
    copies.onEvent((event) => this.events.push(event));
    this.#process = process;
    await registry.start(world.snapshot, true).catch((error: unknown) => {
      if (life.isAlive) throw error;
    });
  }

  /** As kill -9 does: nothing is handed over. */
  kill(): void {
    const process = this.#running;
    process.life.isAlive = false;
    for (const fence of process.fences) fence.kill();
    process.copies[Symbol.dispose]();
    this.#process = undefined;
  }

  /** The store of a shard is gone; `folders.isMade` still says that it was made. */
  async wipe(classId = "books"): Promise<void> {
    await rm(join(this.root, "shards", classId, "s1"), { recursive: true, force: true });
    this.stores.delete(classId);
  }

  /** The whole disk is gone, with the list of what was made on it. */
  async wipeAll(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
    this.stores.clear();
    this.#folders++;
  }

  async hasStore(classId = "books"): Promise<boolean> {
    return isThere(join(this.root, "shards", classId, "s1", STORE_FILE));
  }

  followSchema(): void {
    this.#process?.registry.follow(this.world.snapshot, true);
  }

  receive(from: string, message: NodeMessage): void {
    this.#process?.copies.receive(from, message);
  }

  async put(at: number, n = 0, classId = "books"): Promise<void> {
    const shard = await this.shard(classId);
    const [outcome] = await shard.putObjects([bookOf(at, n)], "upsert");
    if (outcome instanceof ShoalError) throw outcome;
  }

  async delete(at: number, classId = "books"): Promise<void> {
    await (await this.shard(classId)).deleteObject(idOf(at));
  }

  /** The value of an object; undefined when it is not there. */
  async read(at: number, classId = "books"): Promise<unknown> {
    const [object] = await (await this.shard(classId)).getObjects([idOf(at)], ALL_FIELDS);
    return numberIn(object);
  }

  /** Numbers of the objects that a search by vector finds, ascending. */
  async search(classId = "books"): Promise<readonly number[]> {
    const search = { vector: Float32Array.of(1, 1), count: 1_000, fields: ALL_FIELDS };
    const hits = await (await this.shard(classId)).searchByVector(search);
    return hits.map(({ id }) => numberOf(id)).sort((a, b) => a - b);
  }

  async matching(n: number, classId = "books"): Promise<readonly ObjectId[]> {
    const filter = { operator: "Equal", property: "n", value: { kind: "int", values: [n] } } as const;
    return (await this.shard(classId)).matchingIds(filter, 1_000);
  }

  async rows(classId = "books"): Promise<readonly string[]> {
    const store = this.stores.get(classId);
    return store === undefined ? [] : storedRows(store);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process === undefined) return;
    const { copies, registry } = this.#process;
    copies[Symbol.dispose]();
    await registry[Symbol.asyncDispose]();
  }

  get #running(): NodeProcess {
    if (this.#process === undefined) throw new Error(`${this.name} does not run`);
    return this.#process;
  }

  #service(isAlive: () => boolean): Omit<CopyService, "restore"> {
    const { world, name } = this;
    const reached = () => {
      if (!isAlive() || world.withoutService.has(name)) throw new ShoalError("unavailable", "no coordinator");
    };
    return {
      async current() {
        reached();
        const snapshot = await world.service.current();
        reached();
        return snapshot;
      },
      async propose(node, proposals) {
        reached();
        const decisions = await world.service.propose(node, proposals);
        reached();
        return decisions;
      },
      watch: (listener) =>
        world.service.watch((snapshot) => {
          if (isAlive() && !world.withoutService.has(name)) listener(snapshot);
        }),
    };
  }

  async #open({ record, folder, fences, isMade, copy, start, memory }: OpenOptions) {
    const { classId } = record;
    await this.world.opening(this.name, classId);
    if (!isMade) {
      this.stores.set(classId, new MemoryStore());
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, STORE_FILE), "");
    }
    const inner = this.stores.get(classId);
    if (inner === undefined) throw new ShoalError("dataLoss", "no store");
    const store = new FencedStore(this.world.wrap(inner, this.name, classId));
    fences.push(store);
    const { properties, vectorIndexConfig } = shardSettings(record, this.name);
    const shard = await openShard({
      ...{
        store,
        className: "Book",
        shardName: "s1",
        dimensions: undefined,
        vectorIndexConfig,
        properties,
        copy,
        memory,
      },
      // A process that was killed may still write snapshots.
      folder: join(folder, String(start)),
      vectorIndexes: this.world.vectorIndexes(this.name),
      createIndex: (site) => new ScannedIndex(site),
      clock: () => Date.now(),
      onEvent: () => undefined,
    });
    return { shard, store: Object.assign(store, { damage: this.damage }) };
  }
}

interface OpenOptions {
  readonly record: ClassRecord;
  readonly folder: string;
  readonly fences: FencedStore[];
  readonly isMade: boolean;
  readonly copy: CopyOptions;
  readonly start: number;
  readonly memory: MemoryBudget;
}

export function bookOf(at: number, n: number): DataObject {
  const vector = Float32Array.of(at + 1, 1);
  return { id: idOf(at), className: "Book", properties: { n }, vector, extras: undefined };
}

function numberIn(object: StoredObject | undefined): unknown {
  return object && (JSON.parse(Buffer.from(object.propertiesJson).toString()) as { readonly n: unknown }).n;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
