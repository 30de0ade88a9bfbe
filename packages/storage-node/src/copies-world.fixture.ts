import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { KeyValueStore } from "@shoal/kv";
import { type ClassDefinition, ShoalError } from "@shoal/model";
import type { ShardConfiguration } from "@shoal/replication";
import type { ClassRecord, NodeMessage, SchemaSnapshot } from "@shoal/rpc";
import { MemoryCopies } from "@shoal/rpc/testing/memory-copies";
import { MemoryBudget } from "@shoal/runtime";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import type { VectorIndexes } from "@shoal/shard";
import { BruteForceIndexes } from "@shoal/shard/testing/brute-force-index-suite";
import { type AroundNode, CopyNode, ownCopyOf } from "./copy-node.fixture.js";

const LEASE_MS = 500;
const MEMORY_BYTES = 1024 * 1024 * 1024;
/** A machine whose host is busy stands still for a while. */
const WAIT_MS_MAX = 60_000;

export const NODES = ["n1", "n2", "n3"] as const;

/** Resolves when `holds` does; fails with `what` when that takes too long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_MS_MAX} ms: ${what}`);
    await sleep(10);
  }
}

/** What the network does to a message, by chance. */
export interface NetworkFaults {
  readonly dropped: number;
  readonly doubled: number;
  readonly late: number;
  readonly lateMsMax: number;
}

const NO_FAULTS: NetworkFaults = { dropped: 0, doubled: 0, late: 0, lateMsMax: 0 };

export interface CopiesWorldOptions {
  /** Each has one shard. */
  readonly classIds?: readonly string[];
  readonly seed?: number;
  readonly vectorIndexes?: (node: string) => VectorIndexes;
  /** Stands between a shard and its store. */
  readonly wrap?: (store: KeyValueStore, node: string, classId: string) => KeyValueStore;
}

/** Three nodes in one process, each with a copy of every shard: their disks outlive their processes. */
export class CopiesWorld implements AroundNode, AsyncDisposable {
  readonly service = new MemoryCopies();
  readonly nodes = new Map<string, CopyNode>();
  readonly random: SeededRandom;
  /** Links that deliver nothing: `from>to`. */
  readonly cutLinks = new Set<string>();
  /** Nodes that do not reach `service`. */
  readonly withoutService = new Set<string>();
  faults = NO_FAULTS;
  readonly leaseMs = LEASE_MS;
  wrap: (store: KeyValueStore, node: string, classId: string) => KeyValueStore = (store) => store;
  opening: (node: string, classId: string) => Promise<void> = async () => undefined;
  vectorIndexes: (node: string) => VectorIndexes = () => new BruteForceIndexes();
  /** Which part of its memory budget a node uses. */
  usedMemory: (node: string) => number = () => 0;
  /** What becomes of a message on its way; undefined: it is lost. */
  onMessage: (from: string, to: string, message: NodeMessage) => NodeMessage | undefined = (_from, _to, one) => one;
  snapshot: SchemaSnapshot = { historyId: "h", version: 0, classes: [] };
  readonly #root: string;

  private constructor(root: string, seed: number) {
    this.#root = root;
    this.random = seededRandom(seed);
  }

  /** Every node is open when it resolves. */
  static async start({
    classIds = ["books"],
    seed = 1,
    wrap,
    vectorIndexes,
  }: CopiesWorldOptions = {}): Promise<CopiesWorld> {
    const root = await mkdtemp(join(tmpdir(), "copies-"));
    const world = new CopiesWorld(root, seed);
    if (wrap !== undefined) world.wrap = wrap;
    if (vectorIndexes !== undefined) world.vectorIndexes = vectorIndexes;
    world.snapshot = { historyId: "h", version: 1, classes: classIds.map(classOf) };
    for (const classId of classIds)
      world.service.place(
        `${classId}/s1`,
        NODES.map((node) => ownCopyOf(node)),
      );
    for (const name of NODES) world.nodes.set(name, new CopyNode(world, name, join(root, name)));
    await Promise.all([...world.nodes.values()].map((node) => node.start()));
    return world;
  }

  node(name: string): CopyNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  configuration(classId = "books"): ShardConfiguration {
    const configuration = this.service.configurationOf(`${classId}/s1`);
    if (configuration === undefined) throw new Error(`no configuration of ${classId}`);
    return configuration;
  }

  /** The one that answers as primary now. */
  primaryNow(classId = "books"): CopyNode | undefined {
    return [...this.nodes.values()].find((node) => {
      const replica = node.replica(classId);
      return replica?.isPrimary === true && replica.linearRefusal() === undefined;
    });
  }

  async primary(classId = "books"): Promise<CopyNode> {
    let found: CopyNode | undefined;
    await until(`a primary of ${classId}: ${JSON.stringify(this.configuration(classId))}`, () => {
      found = this.primaryNow(classId);
      return found !== undefined;
    });
    if (found === undefined) throw new Error("no primary");
    return found;
  }

  secondaries(primary: CopyNode): readonly [CopyNode, CopyNode] {
    const [one, other] = [...this.nodes.values()].filter((node) => node !== primary);
    if (one === undefined || other === undefined) throw new Error("fewer than three nodes");
    return [one, other];
  }

  /** Writes objects until whoever is primary has acknowledged each, as a gateway that sends them again. */
  async put(from: number, to = from + 1, n = 0, classId = "books"): Promise<void> {
    for (let at = from; at < to; at++) {
      await until(`object ${at} is written`, async () => {
        const node = this.primaryNow(classId);
        return node !== undefined && (await node.put(at, n, classId).then(isDone, notYet));
      });
    }
  }

  /** All copies are in sync, and one of them answers as primary. */
  async inSync(classId = "books"): Promise<void> {
    await until("all copies are in sync", () => {
      const { inSync } = this.configuration(classId);
      return inSync.length === NODES.length && this.primaryNow(classId) !== undefined;
    });
  }

  /** All copies are in sync and equal, row by row, and one of them answers as primary. */
  async whole(classId = "books"): Promise<void> {
    const state = () => {
      const ends = [...this.nodes.values()].map((node) => [
        node.name,
        node.replica(classId)?.name,
        node.replica(classId)?.end,
      ]);
      return JSON.stringify({ configuration: this.configuration(classId), ends });
    };
    const isWhole = () => {
      const { inSync } = this.configuration(classId);
      const replicas = [...this.nodes.values()].map((node) => node.replica(classId));
      if (inSync.length < NODES.length || this.primaryNow(classId) === undefined) return false;
      return replicas.every(
        (one) => one?.name !== undefined && inSync.includes(one.name) && one.end === replicas[0]?.end,
      );
    };
    await until("all copies are in sync", isWhole).catch((error: Error) => {
      throw new Error(`${error.message}: ${state()}`);
    });
    const rows = () => Promise.all([...this.nodes.values()].map((node) => node.rows(classId)));
    await until("all copies are equal", async () => {
      const [first, ...others] = await rows();
      return others.every((one) => JSON.stringify(one) === JSON.stringify(first));
    });
  }

  /** A search on the node finds these and no others, soon. */
  async finds(name: string, numbers: readonly number[], classId = "books"): Promise<void> {
    await until(`${name} finds ${numbers}`, () =>
      this.node(name)
        .search(classId)
        .then((found) => String(found) === String(numbers), notYet),
    );
  }

  /** The value of an object, by whoever is primary; undefined when it is not there. */
  async read(at: number, classId = "books"): Promise<unknown> {
    let state: unknown;
    await until(`object ${at} is read`, async () => {
      const node = this.primaryNow(classId);
      if (node === undefined) return false;
      return node.read(at, classId).then((one) => {
        state = one;
        return true;
      }, notYet);
    });
    return state;
  }

  cut(from: string, to: string): void {
    this.cutLinks.add(`${from}>${to}`);
  }

  /** Nobody hears the node, and it hears nobody. */
  isolate(name: string): void {
    for (const other of NODES) {
      if (other === name) continue;
      this.cut(name, other);
      this.cut(other, name);
    }
    this.withoutService.add(name);
  }

  heal(): void {
    this.cutLinks.clear();
    this.withoutService.clear();
    this.faults = NO_FAULTS;
  }

  send(from: string, to: string, message: NodeMessage): void {
    const { dropped, doubled, late, lateMsMax } = this.faults;
    if (this.#happens(dropped)) return;
    const times = this.#happens(doubled) ? 2 : 1;
    for (let sent = 0; sent < times; sent++) {
      const copy = this.onMessage(from, to, structuredClone(message));
      if (copy === undefined) continue;
      const deliver = () => {
        if (!this.cutLinks.has(`${from}>${to}`)) this.nodes.get(to)?.receive(from, copy);
      };
      if (this.#happens(late)) setTimeout(deliver, this.random.below(lateMsMax)).unref();
      else setImmediate(deliver);
    }
  }

  memoryOf(node: string): MemoryBudget {
    return new MemoryBudget({
      bytesMax: MEMORY_BYTES,
      usedBytes: () => this.usedMemory(node) * MEMORY_BYTES,
      reclaim: async () => 0,
      nowMs: () => performance.now(),
    });
  }

  /** A later schema, of which all nodes hear. */
  changeSchema(classes: readonly ClassRecord[]): void {
    this.snapshot = { ...this.snapshot, version: this.snapshot.version + 1, classes };
    for (const node of this.nodes.values()) node.followSchema();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    await Promise.all([...this.nodes.values()].map((node) => node[Symbol.asyncDispose]()));
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }

  #happens(chance: number): boolean {
    return chance > 0 && this.random.below(1_000) < chance * 1_000;
  }
}

export function isRefused(thrown: unknown): boolean {
  return ["moved", "unavailable"].includes(ShoalError.from(thrown).code);
}

/** Of an error that says to come again. */
export function notYet(thrown: unknown): false {
  if (!isRefused(thrown)) throw thrown;
  return false;
}

function isDone(): true {
  return true;
}

export function classOf(classId: string): ClassRecord {
  const definition = {
    class: "Book",
    properties: [{ name: "n", dataType: ["int"] }],
    vectorIndexConfig: {
      ...{ skip: false, cleanupIntervalSeconds: 300, maxConnections: 64, efConstruction: 128, ef: -1 },
      ...{ vectorCacheMaxObjects: 500_000, flatSearchCutoff: 40_000 },
    },
  } as unknown as ClassDefinition;
  const shards = [{ name: "s1", members: [...NODES], copies: NODES.map((node) => ownCopyOf(node)) }];
  return { definition, classId, dimensions: undefined, sharding: { shards, virtualShards: [], assignments: [] } };
}
