import type { SchemaReplica } from "@shoal/cluster";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot, ShardAddress, ShardService, ShardSize, ShardStatus } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Shard } from "@shoal/shard";
import { DropConfirmation, type DropConfirmationOptions } from "./drop-confirmation.js";
import { findObjects } from "./find-objects.js";
import { ShardRegistry, type ShardRegistryOptions } from "./shard-registry.js";

/** A shard that is being opened for longer, as one that is recovered, is reported as not ready. */
const OPENING_MS_MAX = 500;

/** The schema as this process follows it; see SchemaReplica. */
export type FollowedSchema = Pick<SchemaReplica, "caughtUp" | "isConfirmed" | "onChange" | "refresh" | "snapshot">;

/**
 * The shards of one node behind `ShardService`. Follows the schema by itself; a request for a shard that is still being
 * opened waits for it.
 */
export class StorageNode implements ShardService, AsyncDisposable {
  readonly name: string;
  readonly #registry: ShardRegistry;
  readonly #schema: FollowedSchema;
  readonly #subscription: Disposable;
  readonly #drops: DropConfirmation | undefined;

  private constructor(
    name: string,
    registry: ShardRegistry,
    schema: FollowedSchema,
    subscription: Disposable,
    drops: DropConfirmation | undefined,
  ) {
    this.#drops = drops;
    this.name = name;
    this.#registry = registry;
    this.#schema = schema;
    this.#subscription = subscription;
  }

  /**
   * Catches up with the schema first, as far as the coordinator can be reached. Resolves when every shard that the schema
   * places here is open or is known to have failed. `drops`: who hears that a class which is being deleted takes nothing more.
   */
  static async start(
    schema: FollowedSchema,
    options: ShardRegistryOptions,
    drops?: Omit<DropConfirmationOptions, "nodeName">,
  ): Promise<StorageNode> {
    await schema.caughtUp();
    const registry = new ShardRegistry(options);
    const confirmation = drops && new DropConfirmation({ ...drops, nodeName: options.nodeName });
    const confirm = (snapshot: SchemaSnapshot) =>
      confirmation?.follow(snapshot, (classId) => registry.whenRefused(classId));
    const started = registry.start(schema.snapshot, schema.isConfirmed);
    confirm(schema.snapshot);
    const subscription = schema.onChange((snapshot) => {
      registry.follow(snapshot, schema.isConfirmed);
      confirm(snapshot);
    });
    await started;
    return new StorageNode(options.nodeName, registry, schema, subscription, confirmation);
  }

  /** Those that are open. */
  get shards(): Iterable<Shard> {
    return this.#registry.all.flatMap(({ ready }) => ready ?? []);
  }

  /** Version of the schema that it follows. */
  get schemaVersion(): number {
    return this.#registry.schemaVersion;
  }

  /**
   * Before a request that was planned with that version of the schema is served: catches up with it. Undefined when there
   * is nothing to do. Fails with `unavailable` when the coordinator does not know that version or cannot be reached.
   */
  atSchemaVersion(version: number, context: RequestContext): Promise<void> | undefined {
    return this.#registry.schemaVersion >= version ? undefined : this.#catchUp(version, context);
  }

  readonly putObjects: ShardService["putObjects"] = (address, objects, mode) =>
    this.#ask(address, (shard) => shard.putObjects(objects, mode));

  readonly mergeObject: ShardService["mergeObject"] = (address, merge) =>
    this.#ask(address, (shard) => shard.mergeObject(merge));

  readonly mergeObjects: ShardService["mergeObjects"] = (address, merges) =>
    this.#ask(address, (shard) => shard.mergeObjects(merges));

  readonly deleteObject: ShardService["deleteObject"] = (address, id) =>
    this.#ask(address, (shard) => shard.deleteObject(id));

  readonly getObjects: ShardService["getObjects"] = async (address, ids, fields, context) => {
    const shard = await this.#shard(address);
    return shard.getObjects(ids, fields, context);
  };

  readonly findObjects: ShardService["findObjects"] = async (ids, schemaVersion, context) => {
    await this.atSchemaVersion(schemaVersion, context);
    return findObjects(this.#registry, ids, context.signal);
  };

  readonly searchByVector: ShardService["searchByVector"] = (address, search, context) =>
    this.#ask(address, (shard) => shard.searchByVector(search, context));

  readonly listObjects: ShardService["listObjects"] = async (address, listing, context) => {
    const shard = await this.#shard(address);
    return shard.listObjects(listing, context);
  };

  readonly matchingIds: ShardService["matchingIds"] = (address, filter, idsMax, context) =>
    this.#ask(address, (shard) => shard.matchingIds(filter, idsMax, context));

  readonly aggregate: ShardService["aggregate"] = (address, aggregation, context) =>
    this.#ask(address, (shard) => shard.aggregate(aggregation, context));

  readonly shardStatuses: ShardService["shardStatuses"] = async () => {
    // Those of a class that was just made are there in no time.
    const opening = this.#registry.all.filter(({ ready, failure }) => ready === undefined && failure === undefined);
    if (opening.length > 0)
      await settled(
        opening.map(({ opened }) => opened),
        OPENING_MS_MAX,
      );
    return this.#registry.all.map(({ address, ready, failure, failedBefore }): ShardStatus => {
      if (ready !== undefined) return { address, ...ready.condition() };
      const error = failure?.error ?? failedBefore;
      const reason = error?.message ?? "it is being opened";
      return { address, objectCount: 0, status: "failed", reason };
    });
  };

  readonly shardRecalls: ShardService["shardRecalls"] = async () =>
    this.#registry.all.flatMap(({ address, ready }) => {
      const recall = ready?.statistics().vectors?.recall;
      return recall === undefined ? [] : { address, recall };
    });

  readonly shardCopies: ShardService["shardCopies"] = async () => this.#registry.copyReports();

  readonly shardSizes: ShardService["shardSizes"] = async () =>
    this.#registry.all.flatMap(({ address, ready, store }): readonly ShardSize[] => {
      const diskBytes = store?.diskBytes;
      if (ready === undefined || diskBytes === undefined) return [];
      const { vectors } = ready.statistics();
      const { fileBytes = 0, memoryBytes = 0 } = vectors ?? {};
      return [{ address, diskBytes: diskBytes + fileBytes, vectorMemoryBytes: memoryBytes }];
    });

  /** Vectors of all shards, and how many of them are in memory whole; replaced and deleted ones count until a rebuild. */
  vectorCounts(): { readonly all: number; readonly resident: number } {
    let all = 0;
    let resident = 0;
    for (const shard of this.shards) {
      const { vectors } = shard.statistics();
      all += vectors === undefined ? 0 : vectors.count + vectors.deadRows;
      resident += vectors?.resident ?? 0;
    }
    return { all, resident };
  }

  /** Closes all shards after the writes that were accepted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    this.#drops?.[Symbol.dispose]();
    await this.#registry[Symbol.asyncDispose]();
  }

  /** A shard whose views have failed is reopened for those that ask next. */
  async #ask<T>(address: ShardAddress, work: (shard: Shard) => Promise<T>): Promise<T> {
    const shard = await this.#shard(address);
    try {
      return await work(shard);
    } catch (thrown) {
      if (shard.condition().status === "failed") this.#registry.renew(address, shard);
      throw thrown;
    }
  }

  async #catchUp(version: number, context: RequestContext): Promise<void> {
    await this.#schema.refresh(context);
    const { schemaVersion } = this.#registry;
    if (schemaVersion >= version) return;
    throw new ShoalError(
      "unavailable",
      `node '${this.name}' is at version ${schemaVersion} of the schema, version ${version} is asked for`,
      { retryAfterSeconds: 1 },
    );
  }

  #shard(address: ShardAddress): Shard | Promise<Shard> {
    return this.#registry.get(address);
  }
}

/** Resolves when all are, at the latest after `msMax`. */
async function settled(all: readonly Promise<unknown>[], msMax: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, msMax);
  });
  await Promise.race([late, Promise.allSettled(all)]);
  clearTimeout(timer);
}
