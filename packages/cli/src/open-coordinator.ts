import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  EmbeddedMetaStore,
  type FindNode,
  JobRegistry,
  Ledger,
  type MetaStore,
  NodeRegistry,
  SchemaCoordinator,
  StoredAccess,
  StoredCopies,
  StoredExtensions,
} from "@shoal/coordinator";
import type { DiskBallast } from "@shoal/kv";
import { type ShardLimit, ShoalError } from "@shoal/model";
import type { ResourceScope } from "@shoal/service-runtime";
import { createShardingState } from "@shoal/sharding";
import type { ProcessOptions } from "./process-options.js";
import { openSchemaStore } from "./schema-store.js";

/** The coordinator's own store, in `<dataPath>/schema`; its lock keeps a second process off the folder. */
export async function openEmbeddedMetaStore(
  options: Pick<ProcessOptions, "logger" | "onStoreFailure">,
  dataPath: string,
  ballast: DiskBallast,
  scope: ResourceScope,
): Promise<MetaStore> {
  const store = await openSchemaStore(options, join(dataPath, "schema"), ballast, scope);
  return EmbeddedMetaStore.open(store, randomUUID);
}

export interface CoordinatorSettings {
  readonly store: MetaStore;
  readonly expectedStorageNodes: number;
  /** Of classes that do not say; 1 when absent. */
  readonly defaultFactor?: number;
  readonly shardLimit: ShardLimit;
  /** Fails when this process, which holds the shards, has no memory for so many more. */
  readonly checkRoom?: (shards: number) => void;
  /** Absent: there are no other processes. */
  readonly findNode?: FindNode;
}

/** The schema and the list of storage nodes on a store. */
export async function openCoordinator(
  { clock, configuration, logger }: Pick<ProcessOptions, "clock" | "configuration" | "logger">,
  { store, expectedStorageNodes, defaultFactor = 1, shardLimit, checkRoom, findNode }: CoordinatorSettings,
  scope: ResourceScope,
): Promise<{
  readonly schema: SchemaCoordinator;
  readonly nodes: NodeRegistry;
  readonly jobs: JobRegistry;
  readonly extensions: StoredExtensions;
  readonly access: StoredAccess;
  readonly copies: StoredCopies;
}> {
  const ledger = scope.use(await Ledger.open(store, () => clock.now()));
  const nodes = scope.use(new NodeRegistry(ledger, expectedStorageNodes, findNode));
  const schema = scope.use(
    new SchemaCoordinator({
      ledger,
      expectedStorageNodes,
      defaultFactor,
      createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical }, replicationConfig }, nodeNames) => {
        const factor = replicationConfig?.factor;
        return createShardingState({ desiredCount, virtualPerPhysical, nodeNames, factor }, randomBytes);
      },
      newClassId,
      limits: {
        classesMax: configuration.schemaClassesMax,
        propertiesPerClassMax: configuration.schemaClassPropertiesMax,
      },
      shardLimit,
      checkRoom,
    }),
  );
  await schema.begin(randomUUID(), { deadline: Number.POSITIVE_INFINITY }).catch((thrown: unknown) => {
    const error = ShoalError.from(thrown);
    // A full disk, say: what is stored can be served, and a change can wait.
    if (error.code !== "unavailable") throw error;
    logger.warn({ error }, "a history of this start could not be stored yet; the first change does it");
  });
  const jobs = scope.use(new JobRegistry({ ledger, nowMs: () => clock.now() }));
  const extensions = scope.use(new StoredExtensions(ledger));
  const access = scope.use(new StoredAccess(ledger));
  return { schema, nodes, jobs, extensions, access, copies: scope.use(new StoredCopies(ledger)) };
}

const CLASS_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A name for a class's data on disk: 16 lower-case letters and digits, 82 random bits. */
function newClassId(): string {
  return Array.from({ length: 16 }, () => CLASS_ID_ALPHABET[randomInt(CLASS_ID_ALPHABET.length)] ?? "").join("");
}
