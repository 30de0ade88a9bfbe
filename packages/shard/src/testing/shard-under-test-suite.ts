import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import type { KeyValueStore } from "@shoal/kv";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type {
  DataObject,
  ObjectId,
  Properties,
  PropertyDefinition,
  StoredObject,
  VectorIndexConfig,
} from "@shoal/model";
import { expect } from "vitest";
import type { CreateInvertedIndex, InvertedIndexSite } from "../object-index.js";
import { openShard, type ShardOptions } from "../open-shard.js";
import type { Shard } from "../shard.js";
import type { ShardEvent } from "../shard-events.js";
import { BruteForceIndexes } from "./brute-force-index-suite.js";
import { whenBuilt } from "./check-filters-suite.js";
import { FencedStore } from "./fenced-store.js";
import { ALL_FIELDS, idOf, numberOf } from "./ids-and-fields.js";
import { ScannedIndex } from "./scanned-index.js";

export const INDEX_CONFIG: VectorIndexConfig = {
  skip: false,
  cleanupIntervalSeconds: 300,
  maxConnections: 64,
  efConstruction: 128,
  ef: -1,
  vectorCacheMaxObjects: 500_000,
  flatSearchCutoff: 40_000,
};

export { ALL_FIELDS, idOf };

const named = (dataType: string, names: string): PropertyDefinition[] =>
  names.split(" ").map((name) => ({ name, dataType: [dataType] }));

/** Of all objects in these tests. */
export const PROPERTIES: readonly PropertyDefinition[] = [
  ...named("text", "title text more other t author"),
  { name: "__proto__", dataType: ["text"] },
  ...named("int", "n at m a b c d e x y zebra Alpha constructor"),
  ...named("Book", "list refs cited fresh"),
];

/** The real one, and one that is itself an oracle. */
export const INDEXES: readonly (readonly [string, CreateInvertedIndex | undefined])[] = [
  ["inverted index", (site) => createInvertedIndex({ ...site, memory: new IndexMemory(1 << 24) })],
  ["index of copies", undefined],
];

/** A store, a folder, a clock that stands still until it is told otherwise, and the shards opened on them. */
export class ShardUnderTest implements AsyncDisposable {
  readonly indexes = new BruteForceIndexes();
  readonly events: ShardEvent[] = [];
  /** The one that was made last. */
  inverted: ScannedIndex | undefined;
  nowUnix = 1_700_000_000_000;

  #process: FencedStore | undefined;
  #folders = 0;

  private constructor(
    readonly folder: string,
    public store: KeyValueStore,
    readonly createIndex: CreateInvertedIndex | undefined,
  ) {}

  /** `createIndex`: of the inverted index; one that is itself an oracle when absent. */
  static async create(
    store: KeyValueStore = new MemoryStore(),
    createIndex?: CreateInvertedIndex,
  ): Promise<ShardUnderTest> {
    return new ShardUnderTest(await mkdtemp(join(tmpdir(), "shard-")), store, createIndex);
  }

  /** Opens the shard in a new process; one that is open is killed, unless it was disposed of. */
  async open(options: Partial<ShardOptions> = {}): Promise<Shard> {
    await this.kill();
    this.#process = new FencedStore(this.store);
    return openShard({
      store: this.#process,
      folder: this.#snapshots,
      className: "Book",
      shardName: "s1",
      vectorIndexConfig: INDEX_CONFIG,
      dimensions: undefined,
      vectorIndexes: this.indexes,
      properties: PROPERTIES,
      createIndex: this.createIndex ?? ((site) => this.#scanned(site)),
      clock: () => this.nowUnix,
      onEvent: (event) => this.events.push(event),
      ...options,
    });
  }

  /** Ends the process as kill -9 does: files stay as they are now, whatever the shard in it still tries. */
  async kill(): Promise<void> {
    this.#process?.kill();
    const before = this.#snapshots;
    this.#folders += 1;
    await cp(before, this.#snapshots, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }

  /** A snapshot's file, as the process that was opened last sees it. */
  path(file: "ids.snapshot" | "vectors.snapshot"): string {
    return join(this.#snapshots, file);
  }

  #scanned(site: InvertedIndexSite): ScannedIndex {
    this.inverted = new ScannedIndex(site);
    return this.inverted;
  }

  get #snapshots(): string {
    return join(this.folder, String(this.#folders));
  }

  /** Creates objects whose vectors begin with their number, each a millisecond after the one before. */
  async fill(shard: Shard, from: number, to: number): Promise<void> {
    for (let at = from; at < to; at++) {
      this.nowUnix += 1;
      await shard.putObjects([book(idOf(at), [at, 1])], "create");
    }
  }

  /** Numbers of the objects, newest first. */
  async ids(shard: Shard): Promise<number[]> {
    const listed = await shard.listObjects({ order: "newest", after: undefined, limit: 100, fields: ALL_FIELDS });
    return listed.map((one) => numberOf(one.id));
  }

  /** Everything that `fill` made is found in every way, in the right order, and the next write works. */
  async expectWhole(shard: Shard, expected: readonly number[]): Promise<void> {
    expect(await this.ids(shard)).toEqual(expected);
    const hits = await shard.searchByVector({ vector: Float32Array.of(1, 1), count: 100, fields: ALL_FIELDS });
    expect(new Set(hits.map((hit) => numberOf(hit.id)))).toEqual(new Set(expected));
    for (const hit of hits) expect(hit.object?.vector?.[0]).toBe(numberOf(hit.id));
    await this.#expectFiltered(shard, expected);
    await this.fill(shard, 70, 71);
    expect(await this.ids(shard)).toEqual([70, ...expected]);
    await this.#expectFiltered(shard, [70, ...expected]);
    await shard.deleteObject(idOf(70));
    await this.#expectFiltered(shard, expected);
  }

  /** Filters find what `fill` made, and nothing that was there before. */
  async #expectFiltered(shard: Shard, expected: readonly number[]): Promise<void> {
    const value = { kind: "boolean", values: [false] } as const;
    const all = await whenBuilt(() => shard.matchingIds({ operator: "IsNull", property: "title", value }, 100));
    expect(all.map(numberOf)).toEqual([...expected].sort((a, b) => a - b));
    for (let at = 0; at <= 70; at++) {
      const titled = { kind: "text", values: [idOf(at)] } as const;
      const found = await shard.matchingIds({ operator: "Equal", property: "title", value: titled }, 100);
      expect(found).toEqual(expected.includes(at) ? [idOf(at)] : []);
    }
  }

  recovered(): (ShardEvent & { type: "recovered" }) | undefined {
    return this.events.findLast((event): event is ShardEvent & { type: "recovered" } => event.type === "recovered");
  }

  damages(): string[] {
    return this.events.flatMap((event) => (event.type === "damageFound" ? [event.damage.what] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}

export function book(id: ObjectId, vector?: readonly number[], properties: Properties = { title: id }): DataObject {
  return {
    id,
    className: "Book",
    properties,
    vector: vector === undefined ? undefined : Float32Array.from(vector),
    extras: undefined,
  };
}

export function propertiesOf(object: StoredObject | undefined): unknown {
  return object === undefined ? undefined : JSON.parse(Buffer.from(object.propertiesJson).toString());
}
