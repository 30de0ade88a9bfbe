import { type Memory, MemoryKeeper, type SchemaReplica } from "@shoal/cluster";
import type { ShoalError } from "@shoal/model";
import type { CopiesSnapshot, CopyService, KnownConfiguration } from "@shoal/rpc";
import type { Logger, ResourceScope } from "@shoal/service-runtime";
import { jsonFileMemory } from "./json-file-memory.js";
import { recall } from "./remember.js";

/** The file in a data folder with who held the shards with copies, as its process knew last. */
export const KNOWN_COPIES = "copies.json";

/** A file that thousands of changes in a row make anew is written so seldom. */
const PAUSE_MS = 2_000;

export interface KnownCopies {
  /** Of the data folder of a storage node: its name. */
  readonly node?: string | undefined;
  readonly configurations: readonly KnownConfiguration[];
}

export interface RememberedCopies {
  readonly dataPath: string;
  readonly node?: string;
  readonly service: Pick<CopyService, "watch">;
  readonly schema: Pick<SchemaReplica, "snapshot">;
  readonly logger: Logger;
}

export function knownCopiesIn(folder: string): Memory<KnownCopies> {
  return jsonFileMemory(folder, KNOWN_COPIES);
}

/** Keeps who holds the shards with copies in a file, from which `shoal cluster restore-schema` brings it back into a lost store. */
export async function rememberCopies(
  { dataPath, node, service, schema, logger }: RememberedCopies,
  scope: ResourceScope,
): Promise<void> {
  const what = "who holds the copies of shards";
  const memory = knownCopiesIn(dataPath);
  const remembered = await recall(memory, what, logger);
  let known: ReadonlyMap<string, KnownConfiguration[1]> = new Map(remembered?.configurations);
  const keeper = scope.use(
    new MemoryKeeper(memory, (error: ShoalError) =>
      logger.warn({ error }, `${what} could not be stored: with the coordinators' store it would be lost`),
    ),
  );
  let latest: CopiesSnapshot | undefined;
  const keep = (): void => {
    if (latest !== undefined)
      known = joined(known, latest, new Set(schema.snapshot.classes.map(({ classId }) => classId)));
    latest = undefined;
    keeper.keep({ node, configurations: [...known] });
  };
  let next: NodeJS.Timeout | undefined;
  const watching = service.watch((snapshot) => {
    latest = snapshot;
    next ??= setTimeout(() => {
      next = undefined;
      keep();
    }, PAUSE_MS).unref();
  });
  scope.defer(() => {
    watching[Symbol.dispose]();
    clearTimeout(next);
    if (latest !== undefined) keep();
  });
}

/**
 * What is known with `snapshot`. What it does not have of a class that there is stays known: the store may be a new one, into which that
 * has not come back yet.
 */
function joined(
  known: ReadonlyMap<string, KnownConfiguration[1]>,
  { configurations }: CopiesSnapshot,
  classIds: ReadonlySet<string>,
): ReadonlyMap<string, KnownConfiguration[1]> {
  const all = new Map(configurations);
  for (const [shard, configuration] of known) {
    const isLater = configuration.version > (all.get(shard)?.version ?? 0);
    if (isLater && classIds.has(classIdOf(shard))) all.set(shard, configuration);
  }
  return all;
}

function classIdOf(shard: string): string {
  return shard.slice(0, shard.indexOf("/"));
}
