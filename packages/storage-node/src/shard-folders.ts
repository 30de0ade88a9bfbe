import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";

/** Ids become folder names only in this form, so nothing a client says reaches a path. */
const FOLDER_NAME = /^[A-Za-z0-9]{1,64}$/;

/** Written once into the folder of a class; tells a deleted class from a schema that was lost. */
const MARKER = "class.json";

/** Prefix of folders whose removal has begun. */
const GOING = "going-";

interface ClassMarker {
  readonly className: string;
  /** Version of the schema at which this node first saw the class. */
  readonly schemaVersion: number;
}

/**
 * The folders of a storage node: `<root>/<class id>/<shard name>`. A dropped class is a dropped folder, a moved shard a
 * moved folder.
 */
export class ShardFolders {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Creates `root` when it is missing and finishes removals that were cut short. */
  static async open(root: string): Promise<ShardFolders> {
    await mkdir(root, { recursive: true });
    for (const name of await readdir(root)) {
      if (name.startsWith(GOING)) await rm(join(root, name), { recursive: true, force: true });
    }
    return new ShardFolders(root);
  }

  /** The folder of a shard, created with its class's marker when it is missing. */
  async shard(classId: string, shardName: string, marker: ClassMarker): Promise<string> {
    const classFolder = this.#classFolder(classId);
    const folder = join(classFolder, checkedName(shardName));
    await mkdir(folder, { recursive: true });
    await writeFile(join(classFolder, MARKER), `${JSON.stringify(marker)}\n`, { flag: "wx" }).catch(ignoreExisting);
    return folder;
  }

  /** Removes all shards of a class. The folder is renamed first: what is left after a crash goes at the next start. */
  async drop(classId: string): Promise<void> {
    const going = join(this.#root, GOING + checkedName(classId));
    try {
      await rename(this.#classFolder(classId), going);
    } catch (thrown) {
      if (isMissing(thrown)) return;
      throw thrown;
    }
    await rm(going, { recursive: true, force: true });
  }

  /**
   * Classes on disk that the schema of `version` does not have. `deleted` were in an older schema, so their data may go;
   * `unknown` were created in a newer one: this schema has lost something, their data stays.
   */
  async strangers(
    version: number,
    known: ReadonlySet<string>,
  ): Promise<{ readonly deleted: readonly string[]; readonly unknown: readonly string[] }> {
    const deleted: string[] = [];
    const unknown: string[] = [];
    for (const classId of await readdir(this.#root)) {
      if (!FOLDER_NAME.test(classId) || known.has(classId)) continue;
      const marker = await this.#marker(classId);
      if (marker !== undefined && marker.schemaVersion <= version) deleted.push(classId);
      else unknown.push(classId);
    }
    return { deleted, unknown };
  }

  async #marker(classId: string): Promise<ClassMarker | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#classFolder(classId), MARKER), "utf8")) as ClassMarker;
    } catch {
      return undefined;
    }
  }

  #classFolder(classId: string): string {
    return join(this.#root, checkedName(classId));
  }
}

function checkedName(name: string): string {
  if (!FOLDER_NAME.test(name)) throw new ShoalError("internal", `'${name}' cannot name a folder`);
  return name;
}

function ignoreExisting(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== "EEXIST") throw thrown;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
