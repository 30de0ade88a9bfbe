import { join } from "node:path";
import type { Memory } from "@shoal/cluster";
import { type DiskBallast, endAfterStoreFailure, openRocksStore, type RocksStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { ResourceScope } from "@shoal/service-runtime";
import { KNOWN_SCHEMA, storeFile } from "./json-file-memory.js";
import type { ProcessOptions } from "./process-options.js";

/** Memory of a store that holds the schema, which is small. */
const SCHEMA_STORE = { cacheBytes: 1024 * 1024, writeBufferBytes: 1024 * 1024 } as const;

/** A store that holds the schema; its lock keeps a second process off the folder. */
export async function openSchemaStore(
  options: Pick<ProcessOptions, "logger" | "onStoreFailure">,
  folder: string,
  ballast: DiskBallast,
  scope: ResourceScope,
): Promise<RocksStore> {
  return scope.use(
    await openRocksStore({
      folder,
      ballast,
      ...SCHEMA_STORE,
      onState: (state, reason) => {
        options.logger[state === "closed" ? "debug" : "warn"]({ state, reason }, "schema store state changed");
        if (state === "failed") options.onStoreFailure(endAfterStoreFailure);
      },
    }),
  );
}

const KEY = Buffer.from("schema");

/**
 * The schema that a storage node knew last, in `<dataPath>/known`: a store, because its lock keeps a second process off
 * the folder. A copy in a file can be read while the node runs (`shoal cluster restore-schema`).
 */
export async function schemaStoreMemory(
  options: ProcessOptions,
  dataPath: string,
  ballast: DiskBallast,
  scope: ResourceScope,
): Promise<Memory<SchemaSnapshot>> {
  const store = await openSchemaStore(options, join(dataPath, "known"), ballast, scope);
  return {
    async load() {
      const bytes = await store.get(KEY);
      return bytes && (JSON.parse(Buffer.from(bytes).toString()) as SchemaSnapshot);
    },
    async store(snapshot) {
      // Made once: a large schema takes tens of milliseconds.
      const bytes = Buffer.from(JSON.stringify(snapshot));
      await store.write([{ type: "put", key: KEY, value: bytes }]);
      // The store has it, with room of its own on a full disk.
      await storeFile(dataPath, KNOWN_SCHEMA, bytes).catch((thrown: unknown) => {
        options.logger.warn(
          { error: ShoalError.from(thrown) },
          `the copy of the schema in ${KNOWN_SCHEMA} is not current`,
        );
      });
    },
  };
}
