import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { DiskBallast } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { connectCoordinator, goesOnFrom, type SchemaSnapshot } from "@shoal/rpc";
import { type Configuration, ResourceScope, silentLogger, systemClock } from "@shoal/service-runtime";
import { BALLAST_BYTES } from "../ballast-bytes.js";
import { tlsFilesOf } from "../internal-address.js";
import { jsonFileMemory } from "../json-file-memory.js";
import { KNOWN_SCHEMA } from "../known-schema.js";
import { openCoordinator, openEmbeddedMetaStore } from "../open-coordinator.js";
import { followTlsFiles } from "../tls-files.js";

const COORDINATOR_MS_MAX = 15_000;

/**
 * Brings the newest of the schemas that processes remember (`sources`: their data folders, or files) back into an empty
 * store: that of the coordinators of the configuration, or with `dataPath` that of a stopped coordinator or server in that folder.
 */
export async function restoreSchema(
  sources: readonly string[],
  configuration: Configuration,
  dataPath: string | undefined,
): Promise<SchemaSnapshot> {
  const known = await Promise.all(sources.map(readKnown));
  const newest = newestOf(known);
  await using scope = new ResourceScope();
  const context = { deadline: systemClock.now() + COORDINATOR_MS_MAX };
  if (dataPath === undefined) {
    const files = tlsFilesOf(configuration, "gateway", silentLogger);
    const tls = files && (await followTlsFiles(files, silentLogger, scope));
    const now = () => systemClock.now();
    const coordinator = scope.use(connectCoordinator(configuration.coordinatorAddresses, { now, tls }));
    await coordinator.schema.restore(newest, context);
    return newest;
  }
  const folder = resolve(dataPath);
  const options = { clock: systemClock, configuration, logger: silentLogger, onStoreFailure: () => undefined };
  const ballast = new DiskBallast(join(folder, "BALLAST"), BALLAST_BYTES);
  const store = await openEmbeddedMetaStore(options, folder, ballast, scope);
  const shardLimit = { max: configuration.schemaShardsMax, reason: "SCHEMA_SHARDS_MAX" };
  const { schema } = await openCoordinator(options, { store, expectedStorageNodes: 1, shardLimit }, scope);
  await schema.restore(newest, context);
  return newest;
}

interface KnownSchema {
  readonly source: string;
  readonly snapshot: SchemaSnapshot;
}

async function readKnown(source: string): Promise<KnownSchema> {
  const path = resolve(source);
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => undefined,
  );
  if (isFolder === undefined) throw new ShoalError("invalid", `--from '${source}': there is no such folder or file`);
  const file = isFolder ? join(path, KNOWN_SCHEMA) : path;
  const snapshot = await jsonFileMemory<SchemaSnapshot>(dirname(file), basename(file)).load();
  if (snapshot === undefined) {
    const message = `--from '${source}': no file '${KNOWN_SCHEMA}' in it; it is in data folders of gateways, storage nodes and servers`;
    throw new ShoalError("invalid", message);
  }
  if (snapshot.clusterId === undefined) {
    throw new ShoalError("invalid", `--from '${source}': it does not say which cluster it is of`);
  }
  return { source, snapshot };
}

/** Fails with `invalid` when they are of several clusters. */
function newestOf(known: readonly KnownSchema[]): SchemaSnapshot {
  const [first, ...others] = known;
  if (first === undefined) throw new ShoalError("invalid", "--from is needed: a data folder that remembers the schema");
  let newest = first;
  for (const other of others) {
    if (other.snapshot.clusterId !== first.snapshot.clusterId) {
      const message = `'${first.source}' is of cluster '${first.snapshot.clusterId}', '${other.source}' of '${other.snapshot.clusterId}'`;
      throw new ShoalError("invalid", `${message}: name folders of one cluster`);
    }
    if (!goesOnFrom(newest.snapshot, other.snapshot)) newest = other;
  }
  return newest.snapshot;
}
