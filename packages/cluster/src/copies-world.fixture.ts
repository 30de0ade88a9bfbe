import type { DataObject, ObjectId } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import { initialConfiguration, nodeOf, type ShardConfiguration } from "@shoal/replication";
import {
  type ClassRecord,
  type SchemaSnapshot,
  type ShardAddress,
  type ShardKey,
  ShardMoved,
  type ShardService,
  shardKeyOf,
  undelivered,
} from "@shoal/rpc";
import { type MemoryRows, memoryShards } from "@shoal/rpc/testing/memory-shards";
import type { RequestContext } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import type { NodePool } from "./cluster-nodes.js";
import type { CopiesView } from "./copies-view.js";
import { FakeConnection } from "./fake-connection.fixture.js";
import { HeldRequests } from "./held-requests.js";
import { RetryingNode } from "./retrying-node.js";
import { ShardMap } from "./shard-map.js";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const NODES: readonly string[] = ["n1", "n2", "n3"];
export const WAIT_MS = 15_000;

export function objectOf(id: ObjectId, value: string, className = "Car"): DataObject {
  return { id, className, properties: { value }, vector: undefined, extras: undefined };
}

/** A class each of whose shards has a copy on each node; the primary of shard `i` is on node `i + 1` at first. */
export function copiedClass(name: string, shards = 3, factor = NODES.length): ClassRecord {
  const plan = { desiredCount: shards, virtualPerPhysical: 8, nodeNames: NODES };
  const state = createShardingState(plan, seededRandom(name.charCodeAt(0)).bytes);
  const placed = state.shards.map((shard, at) => {
    const members = NODES.map((_, i) => NODES[(at + i) % NODES.length] ?? "n1").slice(0, factor);
    return { ...shard, members, ...(factor === 1 ? {} : { copies: members.map((node) => `${node}/c${at}`) }) };
  });
  const record = { definition: { class: name }, classId: `id-${name}` } as ClassRecord;
  return { ...record, sharding: { ...state, shards: placed } };
}

/** What this process knows of configurations: it lags behind until it is notified, refreshed, or learns. */
export class LaggingView implements CopiesView {
  refreshes = 0;
  readonly learned: string[] = [];
  readonly known = new Map<ShardKey, ShardConfiguration>();
  readonly #actual: ReadonlyMap<ShardKey, ShardConfiguration>;
  readonly #listeners = new Set<(keys: readonly ShardKey[]) => void>();

  constructor(actual: ReadonlyMap<ShardKey, ShardConfiguration>) {
    this.#actual = actual;
  }

  configurationOf({ classId, sharding }: ClassRecord, shardName: string): ShardConfiguration | undefined {
    const copies = sharding.shards.find(({ name }) => name === shardName)?.copies;
    return copies && (this.known.get(`${classId}/${shardName}`) ?? initialConfiguration(copies));
  }

  learn(key: ShardKey, configuration: ShardConfiguration): void {
    if (configuration.version <= (this.known.get(key)?.version ?? 1)) return;
    this.learned.push(`${key} ${configuration.version}`);
    this.#take([[key, configuration]]);
  }

  async refresh(): Promise<void> {
    this.refreshes++;
    await Promise.resolve();
    this.tell();
  }

  /** The coordinator's stream has come. */
  tell(): void {
    this.#take([...this.#actual].filter(([key, { version }]) => version > (this.known.get(key)?.version ?? 1)));
  }

  onChange(listener: (keys: readonly ShardKey[]) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  #take(changes: readonly (readonly [ShardKey, ShardConfiguration])[]): void {
    for (const [key, configuration] of changes) this.known.set(key, configuration);
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes.map(([key]) => key));
  }
}

/** A node whose questions may be left without a response, and whose copies answer as configurations say. */
export interface WorldNode {
  readonly connection: FakeConnection;
  readonly retrying: RetryingNode;
  /** While it is, nothing is answered, nor done. */
  isSilent: boolean;
  /** Copies that refuse to search, e.g. without a lease. */
  refusesSearches: boolean;
  /** What was asked, the class's shard by its place: `putObjects 0`. */
  readonly calls: string[];
  /** Ends the questions that it has not answered. */
  readonly lose: Set<(error: ShoalError) => void>;
}

/** Shards whose copies hold the same rows at all times, on nodes that move, die and fall silent; in fake time. */
export class CopiesWorld implements NodePool {
  readonly schema: SchemaSnapshot;
  readonly actual = new Map<ShardKey, ShardConfiguration>();
  readonly view = new LaggingView(this.actual);
  readonly held: HeldRequests;
  readonly map: ShardMap;
  readonly nodes: ReadonlyMap<string, WorldNode>;
  readonly rows = new Map<ShardKey, MemoryRows>();
  /** Whether refusals say which configuration counts. */
  tellsConfiguration = true;
  /** How long a response takes; half of it before something is done. */
  latencyMs: () => number = () => 0;
  /** How often each value was put. */
  readonly puts = new Map<string, number>();

  constructor(classes: readonly ClassRecord[], held = new HeldRequests(), random = () => 0.5) {
    this.schema = { historyId: "h", version: 7, classes };
    this.held = held;
    for (const { classId, sharding } of classes) {
      for (const { name, copies } of sharding.shards) {
        this.rows.set(`${classId}/${name}`, new Map());
        if (copies !== undefined) this.actual.set(`${classId}/${name}`, initialConfiguration(copies));
      }
    }
    const nowMs = () => Date.now();
    this.nodes = new Map(NODES.map((name) => [name, this.#makeNode(name)]));
    this.map = new ShardMap(this, { view: this.view, random, shardWaitMs: WAIT_MS, held, nowMs });
  }

  node(name: string): ShardService | undefined {
    return this.nodes.get(name)?.retrying.service;
  }

  isLost(name: string): boolean {
    return this.nodes.get(name)?.retrying.isLost ?? false;
  }

  at(name: string): WorldNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  shard(at: number, className = "Car"): ShardAddress {
    const shard = this.map.shardsOf(this.record(className))[at];
    if (shard === undefined) throw new Error("no such shard");
    return shard;
  }

  record(className = "Car"): ClassRecord {
    const record = this.schema.classes.find(({ definition }) => definition.class === className);
    if (record === undefined) throw new Error("no such class");
    return record;
  }

  /** An id that the shard owns, and in each other class a shard of another place; another one for each number. */
  idOf(shard: ShardAddress, number = 0): ObjectId {
    const { classes } = this.schema;
    const place = this.map.shardsOf(this.record(shard.className)).indexOf(shard);
    const own = classes.indexOf(this.record(shard.className));
    const owners = classes.map((record, at) => {
      const shards = this.map.shardsOf(record);
      return [record, shards[(place + at - own + shards.length) % shards.length]] as const;
    });
    for (let draw = 0, found = 0; ; draw++) {
      const id = `${draw.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;
      if (owners.every(([record, owner]) => this.map.shardOf(record, id) === owner) && found++ === number) return id;
    }
  }

  configuration(shard: ShardAddress): ShardConfiguration {
    const configuration = this.actual.get(shardKeyOf(shard));
    if (configuration === undefined) throw new Error("no copies");
    return configuration;
  }

  /** The copy on `name` becomes primary; without `out` all others stay in sync. */
  promote(shard: ShardAddress, name: string, out?: string): void {
    const before = this.configuration(shard);
    const everyone = [...before.inSync, ...before.learners];
    const primary = everyone.find((copy) => nodeOf(copy) === name) ?? "";
    const learners = everyone.filter((copy) => nodeOf(copy) === out);
    const inSync = [primary, ...everyone.filter((copy) => copy !== primary && !learners.includes(copy))];
    const { version, epoch } = before;
    this.actual.set(shardKeyOf(shard), {
      ...before,
      version: version + 1,
      epoch: epoch + 1,
      primary,
      inSync,
      learners,
    });
  }

  die(name: string): void {
    const node = this.at(name);
    node.connection.become("unreachable");
    for (const lose of [...node.lose]) lose(undelivered(new ShoalError("unavailable", "connection lost"), "unknown"));
  }

  revive(name: string): void {
    const node = this.at(name);
    node.isSilent = false;
    node.connection.become("ready");
  }

  /** Answers nothing any more; its link notices after 2.1 s. */
  fallSilent(name: string): void {
    const node = this.at(name);
    node.isSilent = true;
    setTimeout(() => {
      if (node.isSilent) this.die(name);
    }, 2_100);
  }

  /** What the nodes were asked since this was called last, by node. */
  takeCalls(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.nodes].map(([name, { calls }]) => [name, calls.splice(0)]));
  }

  #makeNode(name: string): WorldNode {
    const memory = memoryShards({
      rows: (shard) => this.rows.get(shardKeyOf(shard)) ?? new Map(),
      properties: () => [],
      shards: () => [],
    });
    const refuse = (shard: ShardAddress): ShardMoved =>
      new ShardMoved(
        `${shard.shardName}: not on ${name}`,
        this.tellsConfiguration ? this.configuration(shard) : undefined,
      );
    const isPrimary = (shard: ShardAddress) => {
      const configuration = this.actual.get(shardKeyOf(shard));
      return configuration === undefined || nodeOf(configuration.primary) === name;
    };
    const linear = (shard: ShardAddress) => {
      if (!isPrimary(shard)) throw refuse(shard);
    };
    const search = (shard: ShardAddress) => {
      const { inSync } = this.configuration(shard);
      if (this.at(name).refusesSearches || !inSync.some((copy) => nodeOf(copy) === name)) throw refuse(shard);
    };
    const placed = () =>
      this.schema.classes.flatMap((record) =>
        this.map.shardsOf(record).filter((_, at) => record.sharding.shards[at]?.members.includes(name)),
      );
    const served: Partial<ShardService> = {
      putObjects: async (shard, objects, mode, context) => {
        linear(shard);
        for (const { properties } of objects) {
          const value = String(properties?.value);
          this.puts.set(value, 1 + (this.puts.get(value) ?? 0));
        }
        return memory.putObjects(shard, objects, mode, context);
      },
      deleteObject: async (shard, id, context) => {
        linear(shard);
        return memory.deleteObject(shard, id, context);
      },
      getObjects: async (shard, ids, fields, context) => {
        linear(shard);
        return memory.getObjects(shard, ids, fields, context);
      },
      listObjects: async (shard, listing, context) => {
        search(shard);
        return memory.listObjects(shard, listing, context);
      },
      findObjects: async (ids) => {
        const [own, others] = [placed().filter(isPrimary), placed().filter((shard) => !isPrimary(shard))];
        const copyOf = ({ classId, className, shardName }: ShardAddress) => ({ classId, className, shardName });
        return {
          holders: ids.map((id) => own.filter((shard) => this.rows.get(shardKeyOf(shard))?.has(id)).map(copyOf)),
          unasked: others.map((shard) => ({ shard: copyOf(shard), error: refuse(shard) })),
        };
      },
    };
    const watched = Object.fromEntries(
      Object.entries(served).map(([method, serve]) => [method, this.#watched(name, method, serve as never)]),
    );
    const connection = new FakeConnection(name, watched as Partial<ShardService>);
    const retrying = new RetryingNode(name, { shardWaitMs: WAIT_MS, held: this.held, nowMs: () => Date.now() });
    retrying.connect(connection);
    connection.become("ready");
    return { connection, retrying, isSilent: false, refusesSearches: false, calls: [], lose: new Set() };
  }

  #watched(name: string, method: string, serve: (...args: unknown[]) => Promise<unknown>) {
    return (...args: unknown[]): Promise<unknown> => {
      const node = this.at(name);
      const [shard] = args as ShardAddress[];
      const at =
        method === "findObjects" ? -1 : this.map.shardsOf(this.record(shard?.className)).indexOf(shard as ShardAddress);
      node.calls.push(at === -1 ? method : `${method} ${at}`);
      return new Promise((resolve, reject) => {
        const { signal, deadline } = args.at(-1) as RequestContext;
        const end = (error: unknown): void => {
          node.lose.delete(end);
          reject(error);
        };
        node.lose.add(end);
        signal?.addEventListener("abort", () => end(signal.reason));
        const late = new ShoalError("deadlineExceeded", `${name} did not answer in time`);
        if (deadline < Number.POSITIVE_INFINITY) setTimeout(end, deadline - Date.now(), late);
        const work = async (): Promise<unknown> => {
          const pause = this.latencyMs() / 2;
          if (pause > 0) await sleep(pause);
          while (node.isSilent && node.lose.has(end)) await sleep(10);
          if (!node.lose.has(end)) return undefined;
          const response = await serve(...args);
          if (pause > 0) await sleep(pause);
          return response;
        };
        work()
          .then(resolve, reject)
          .finally(() => node.lose.delete(end));
      });
    };
  }
}
