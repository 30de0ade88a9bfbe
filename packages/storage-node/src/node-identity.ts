import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";

/** Holds the name under which the data of this folder is known to the cluster. */
const IDENTITY_FILE = "node.json";

export interface NodeIdentity {
  readonly name: string;
  /** Whether nothing was ever kept in the folder: it has no name yet. */
  readonly isNew: boolean;
  /** The cluster that the data belongs to; undefined until a coordinator has told it. */
  readonly clusterId: string | undefined;
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
  if (stored === undefined) return { name: configured ?? fallback, isNew: true, clusterId: undefined };
  const { name, clusterId } = stored;
  if (configured !== undefined && configured !== name) {
    throw new ShoalError(
      "invalid",
      `CLUSTER_HOSTNAME is '${configured}', but the data in '${dataPath}' belongs to node '${name}'`,
    );
  }
  return { name, isNew: false, clusterId };
}

/** Durable when it resolves. Nothing is written when it stands there as it is. */
export async function keepNodeIdentity(dataPath: string, name: string, clusterId?: string): Promise<void> {
  await makeDurableFolder(dataPath);
  const file = join(dataPath, IDENTITY_FILE);
  const stored = await readIdentity(file);
  if (stored?.name === name && stored.clusterId === clusterId) return;
  await writeDurableFile(file, `${JSON.stringify({ name, ...(clusterId !== undefined && { clusterId }) })}\n`);
}

async function readIdentity(
  file: string,
): Promise<{ readonly name: string; readonly clusterId: string | undefined } | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    const { name, clusterId } = JSON.parse(text) as { readonly name?: unknown; readonly clusterId?: unknown };
    if (typeof name === "string" && name !== "") {
      return { name, clusterId: typeof clusterId === "string" ? clusterId : undefined };
    }
  } catch {
    // Falls through to the message below.
  }
  throw new ShoalError("dataLoss", `'${file}' does not name a node: write {"name":"…"} with the name it had`);
}
