import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "@shoal/model";
import {
  type AccessChange,
  type AccessService,
  type AccessSnapshot,
  type CopyService,
  goesOnFrom,
  type SchemaSnapshot,
  type ServedSchema,
} from "@shoal/rpc";
import { connectCoordinator } from "@shoal/rpc/grpc";
import type { RequestContext } from "@shoal/runtime";
import { type Configuration, ResourceScope, silentLogger, systemClock } from "@shoal/service-runtime";
import { entriesMemory, jsonFileMemory, KNOWN_ACCESS, KNOWN_SCHEMA } from "../json-file-memory.js";
import { KNOWN_COPIES, type KnownCopies, knownCopiesIn } from "../known-copies.js";
import { ballastOf } from "../make-data-folder.js";
import { openCoordinator, openEmbeddedMetaStore } from "../open-coordinator.js";
import { followInternalTls } from "../tls-files.js";
import { newestCopies, type RestoredCopies } from "./restored-copies.js";

const COORDINATOR_MS_MAX = 15_000;
const CONFIGURATIONS_A_CALL = 1_000;

/** What was brought back. */
export interface Restored {
  readonly schema: SchemaSnapshot;
  /** Roles and users; undefined when nobody remembers any. */
  readonly access: AccessSnapshot | undefined;
  readonly copies: RestoredCopies;
}

/**
 * Brings the newest of the schemas, and of the roles and users, that processes remember (`sources`: their data folders, or files) back
 * into an empty store: that of the coordinators of the configuration, or with `dataPath` that of a stopped coordinator or server in
 * that folder.
 */
export async function restoreSchema(
  sources: readonly string[],
  configuration: Configuration,
  dataPath: string | undefined,
): Promise<Restored> {
  const known = await Promise.all(sources.map(readKnown));
  const schema = newestOf(known);
  const copies = newestCopies(
    known.flatMap((one) => one.copies ?? []),
    schema.classes,
  );
  const restored: Restored = { schema, access: newestAccessOf(known), copies };
  await using scope = new ResourceScope();
  if (dataPath === undefined) {
    const tls = await followInternalTls(configuration, "gateway", silentLogger, scope);
    const now = () => systemClock.now();
    const coordinator = scope.use(connectCoordinator(configuration.coordinatorAddresses, { now, tls }));
    return await bringBack(restored, coordinator);
  }
  const folder = resolve(dataPath);
  const options = { clock: systemClock, configuration, logger: silentLogger, onStoreFailure: () => undefined };
  const store = await openEmbeddedMetaStore(options, folder, ballastOf(folder), scope);
  const shardLimit = { max: configuration.schemaShardsMax, reason: "SCHEMA_SHARDS_MAX" };
  return await bringBack(
    restored,
    await openCoordinator(options, { store, expectedStorageNodes: 1, shardLimit }, scope),
  );
}

/**
 * Brings who holds the copies of shards up to what processes remember (`sources`: their data folders), after the coordinators' store was
 * put back from a backup.
 */
export async function restoreCopies(sources: readonly string[], configuration: Configuration): Promise<RestoredCopies> {
  const known = await Promise.all(
    sources.map(async (source) => {
      const copies = await knownCopiesIn(resolve(source)).load();
      if (copies !== undefined) return copies;
      throw new ShoalError(
        "invalid",
        `--from '${source}': no file '${KNOWN_COPIES}' in it; storage nodes and gateways keep it`,
      );
    }),
  );
  await using scope = new ResourceScope();
  const tls = await followInternalTls(configuration, "gateway", silentLogger, scope);
  const now = () => systemClock.now();
  const { schema, copies } = scope.use(connectCoordinator(configuration.coordinatorAddresses, { now, tls }));
  const { classes } = await schema.current({ deadline: now() + COORDINATOR_MS_MAX });
  const newest = newestCopies(known, classes);
  await putBack(newest, copies);
  return newest;
}

/** Fails with `conflict` when the store has gone on from what it was put back to: two copies may have acknowledged different writes. */
async function putBack(
  { configurations }: RestoredCopies,
  copies: Pick<CopyService, "current" | "restore">,
): Promise<void> {
  for (let at = 0; at < configurations.length; at += CONFIGURATIONS_A_CALL) {
    const deadline = systemClock.now() + COORDINATOR_MS_MAX;
    await copies.restore(configurations.slice(at, at + CONFIGURATIONS_A_CALL), { deadline });
  }
  const there = await copies.current({ deadline: systemClock.now() + COORDINATOR_MS_MAX });
  const apart = configurations.filter(([shard, configuration]) => {
    const current = there.configurations.get(shard);
    return current?.version === configuration.version && !isDeepStrictEqual(current, configuration);
  });
  if (apart.length === 0) return;
  const [[shard = "", known] = [], ...others] = apart;
  const message =
    `the store has version ${known?.version} of shard ${shard}${others.length > 0 ? ` and of ${others.length} more` : ""} with another content than ` +
    "the nodes: it went on from its backup before this command. Keep the folders of all its copies before one of them is taken out";
  throw new ShoalError("conflict", message);
}

/**
 * Roles and users first: with the schema the store becomes that of the cluster, and its processes believe whatever it says of them.
 */
async function bringBack(restored: Restored, { schema, access, copies }: Coordinator): Promise<Restored> {
  const contextOf = () => ({ deadline: systemClock.now() + COORDINATOR_MS_MAX });
  const { classes } = await schema.current(contextOf());
  // Where there are classes, nothing is brought back: the schema says so.
  if (restored.access !== undefined && classes.length === 0) {
    await restoreAccess(restored.access, access, contextOf);
  }
  await schema.restore(restored.schema, contextOf());
  // An attempt that ends here goes on with `restoreCopies`.
  await putBack(restored.copies, copies);
  return restored;
}

interface Coordinator {
  readonly schema: Pick<ServedSchema, "current" | "restore">;
  readonly access: AccessService;
  readonly copies: Pick<CopyService, "current" | "restore">;
}

interface KnownSchema {
  readonly source: string;
  readonly snapshot: SchemaSnapshot;
  /** Only gateways and servers know any. */
  readonly access: AccessSnapshot | undefined;
  /** Only storage nodes and gateways know any. */
  readonly copies: KnownCopies | undefined;
}

/** Versions of a store only grow, over the starts of its coordinators, too. */
function newestAccessOf(known: readonly KnownSchema[]): AccessSnapshot | undefined {
  const [first, ...others] = known.flatMap(({ access }) => access ?? []);
  return first && others.reduce((newest, one) => (one.version > newest.version ? one : newest), first);
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
  const access = await entriesMemory<AccessSnapshot>(jsonFileMemory(dirname(file), KNOWN_ACCESS)).load();
  return { source, snapshot, access, copies: await knownCopiesIn(dirname(file)).load() };
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

/** Etcd takes 127 changes and 1.5 MB at once. */
const CHANGES_MAX = 100;
const BYTES_MAX = 1_000_000;

/**
 * Brings roles, assignments and users back into a store that has none, or a part of them from an attempt that ended. Fails with
 * `conflict` when it has others. `contextOf`: of one call.
 */
export async function restoreAccess(
  { entries, version }: AccessSnapshot,
  access: AccessService,
  contextOf: () => RequestContext,
): Promise<void> {
  const there = await access.current(contextOf());
  for (const [key, value] of there.entries) {
    if (isDeepStrictEqual(entries.get(key), value)) continue;
    const message = `the coordinator's store has roles or users of its own ('${key}'): they are brought back into an empty store`;
    throw new ShoalError("conflict", message);
  }
  const missing = [...entries].filter(([key]) => !there.entries.has(key)).map(([key, value]) => ({ key, value }));
  for (const changes of portions(missing)) {
    await access.change(changes, await access.current(contextOf()), contextOf(), version);
  }
}

function portions(changes: readonly AccessChange[]): readonly (readonly AccessChange[])[] {
  const portions: AccessChange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const change of changes) {
    const more = Buffer.byteLength(change.key) + Buffer.byteLength(JSON.stringify(change.value));
    const last = portions.at(-1);
    if (last === undefined || last.length >= CHANGES_MAX || bytes + more > BYTES_MAX) {
      portions.push([change]);
      bytes = more;
    } else {
      last.push(change);
      bytes += more;
    }
  }
  return portions;
}
