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
}

/**
 * The name of the node whose data lies in `dataPath`. Written at the first start (`configured`, or else `fallback`) and
 * kept from then on: shards are placed by this name, so it must survive a change of the machine's own.
 * Fails with `invalid` when a configured name differs from the one that the data has.
 */
export async function nodeIdentity(
  dataPath: string,
  configured: string | undefined,
  fallback: string,
): Promise<string> {
  const { name, isNew } = await findNodeIdentity(dataPath, configured, fallback);
  if (isNew) await keepNodeIdentity(dataPath, name);
  return name;
}

/** As {@link nodeIdentity}, and writes nothing: a new folder becomes the node's own with {@link keepNodeIdentity}. */
export async function findNodeIdentity(
  dataPath: string,
  configured: string | undefined,
  fallback: string,
): Promise<NodeIdentity> {
  const stored = await readName(join(dataPath, IDENTITY_FILE));
  if (stored === undefined) return { name: configured ?? fallback, isNew: true };
  if (configured !== undefined && configured !== stored) {
    throw new ShoalError(
      "invalid",
      `CLUSTER_HOSTNAME is '${configured}', but the data in '${dataPath}' belongs to node '${stored}'`,
    );
  }
  return { name: stored, isNew: false };
}

export async function keepNodeIdentity(dataPath: string, name: string): Promise<void> {
  await makeDurableFolder(dataPath);
  await writeDurableFile(join(dataPath, IDENTITY_FILE), `${JSON.stringify({ name })}\n`);
}

async function readName(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    const { name } = JSON.parse(text) as { readonly name?: unknown };
    if (typeof name === "string" && name !== "") return name;
  } catch {
    // Falls through to the message below.
  }
  throw new ShoalError("dataLoss", `'${file}' does not name a node: write {"name":"…"} with the name it had`);
}
