import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";

/** Holds the name under which the data of this folder is known to the cluster. */
const IDENTITY_FILE = "node.json";
/** A reader of it can take the node's place. */
const SECRET_MODE = 0o600;

export interface NodeIdentity {
  readonly name: string;
  /** Whether nothing was ever kept in the folder: it has no name yet. */
  readonly isNew: boolean;
  /** The cluster that the data belongs to; undefined until a coordinator has reported it. */
  readonly clusterId: string | undefined;
  /** By which coordinators know the folder again; "" in a folder that has none yet. */
  readonly secret: string;
  /** Whether the list of the shards that were made was once there beside it: without it nobody knows what is missing. */
  readonly hasShardList: boolean;
}

/**
 * The name of the node whose data lies in `dataPath`: kept from the first start on, as shards are placed by it and it must
 * survive a change of the machine's own; in a new folder `configured`, or else `fallback`. Writes nothing: a folder becomes
 * the node's own with {@link keepNodeIdentity}. Fails with `invalid` when a configured name differs from the one that the
 * data has.
 */
export async function findNodeIdentity(
  dataPath: string,
  configured: string | undefined,
  fallback: string,
): Promise<NodeIdentity> {
  const stored = await readIdentity(join(dataPath, IDENTITY_FILE));
  if (stored === undefined) {
    return { name: configured ?? fallback, isNew: true, clusterId: undefined, secret: "", hasShardList: false };
  }
  const { name, clusterId, secret, hasShardList } = stored;
  if (configured !== undefined && configured !== name) {
    throw new ShoalError(
      "invalid",
      `CLUSTER_HOSTNAME is '${configured}', but the data in '${dataPath}' belongs to node '${name}'`,
    );
  }
  return { name, isNew: false, clusterId, secret, hasShardList };
}

/** What stands in the file. */
type StoredIdentity = Omit<NodeIdentity, "isNew">;

/**
 * Durable when it resolves. Nothing is written when it stands there as it is; a secret, and that there was a list of shards,
 * stay once they are there.
 */
export async function keepNodeIdentity(
  dataPath: string,
  {
    name,
    clusterId,
    secret = "",
    hasShardList = false,
  }: Pick<StoredIdentity, "name" | "clusterId"> & Partial<StoredIdentity>,
): Promise<void> {
  await makeDurableFolder(dataPath);
  const file = join(dataPath, IDENTITY_FILE);
  const stored = await readIdentity(file);
  const isListed = hasShardList || stored?.hasShardList === true;
  const kept = stored === undefined || stored.secret === "" ? secret : stored.secret;
  const isSame = stored?.name === name && stored.clusterId === clusterId && stored.secret === kept;
  if (isSame && stored.hasShardList === isListed) return;
  const members = {
    name,
    ...(clusterId !== undefined && { clusterId }),
    ...(isListed && { hasShardList: true }),
    ...(kept !== "" && { secret: kept }),
  };
  await writeDurableFile(file, `${JSON.stringify(members)}\n`, SECRET_MODE);
}

async function readIdentity(file: string): Promise<StoredIdentity | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    const { name, clusterId, secret, hasShardList } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof name === "string" && name !== "") {
      const known = typeof clusterId === "string" ? clusterId : undefined;
      const kept = typeof secret === "string" ? secret : "";
      return { name, clusterId: known, secret: kept, hasShardList: hasShardList === true };
    }
  } catch {
    // Falls through to the message below.
  }
  throw new ShoalError("dataLoss", `'${file}' does not name a node: write {"name":"…"} with the name it had`);
}
