import { access, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { goesOnFrom, type SchemaSnapshot } from "@shoal/rpc";

/** Ids become folder names only in this form, so nothing a client says reaches a path. */
const FOLDER_NAME = /^[A-Za-z0-9]{1,64}$/;

/** Written once into the folder of a class; tells a deleted class from a schema that was lost. */
const MARKER = "class.json";

/** Prefix of folders whose removal has begun. */
const GOING = "going-";

interface ClassMarker {
  readonly className: string;
  /** Of the schema that the class belongs to. */
  readonly historyId: string;
  /** Version of the schema at which this node first saw the class. */
  readonly schemaVersion: number;
}

/**
 * The folders of a storage node: `<root>/<class id>/<shard name>`. A dropped class is a dropped folder, a moved shard a
 * moved folder.
 */
export class ShardFolders {
  readonly #root: string;
  /** Classes whose folders are being made: shards of one class are opened at once. */
  readonly #making = new Map<string, Promise<void>>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** Creates `root` when it is missing and finishes removals that were cut short. */
  static async open(root: string): Promise<ShardFolders> {
    await makeDurableFolder(root);
    for (const name of await readdir(root)) {
      if (name.startsWith(GOING)) await rm(join(root, name), { recursive: true, force: true });
    }
    return new ShardFolders(root);
  }

  /** The folder of a shard, created with its class's marker when it is missing; durable, with the way to it. */
  async shard(classId: string, shardName: string, marker: ClassMarker): Promise<string> {
    const folder = join(this.classFolder(classId), checkedName(shardName));
    let making = this.#making.get(classId);
    if (making === undefined) {
      making = this.#makeClass(classId, marker).finally(() => this.#making.delete(classId));
      this.#making.set(classId, making);
    }
    await making;
    await makeDurableFolder(folder);
    return folder;
  }

  async #makeClass(classId: string, marker: ClassMarker): Promise<void> {
    const folder = this.classFolder(classId);
    await makeDurableFolder(folder);
    const file = join(folder, MARKER);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (!isThere) await writeDurableFile(file, `${JSON.stringify(marker)}\n`);
  }

  /** Removes all shards of a class. The folder is renamed first: what is left after a crash goes at the next start. */
  async drop(classId: string): Promise<void> {
    const going = join(this.#root, GOING + checkedName(classId));
    try {
      await rename(this.classFolder(classId), going);
    } catch (thrown) {
      if (isMissing(thrown)) return;
      throw thrown;
    }
    await rm(going, { recursive: true, force: true });
  }

  /**
   * Classes on disk that the schema does not have. `deleted` were in it at an earlier version, so their data may go, or have
   * none, because the process was killed while it made their folders;
   * `unknown` belong to another history, or to a later version than this one: the schema has been lost or put back, and
   * their data stays.
   */
  async strangers(
    schema: Omit<SchemaSnapshot, "classes">,
    known: ReadonlySet<string>,
  ): Promise<{ readonly deleted: readonly string[]; readonly unknown: readonly string[] }> {
    const deleted: string[] = [];
    const unknown: string[] = [];
    for (const classId of await readdir(this.#root)) {
      if (!FOLDER_NAME.test(classId) || known.has(classId)) continue;
      const marker = await this.#marker(classId);
      const wasKnown =
        marker !== undefined && goesOnFrom(schema, { historyId: marker.historyId, version: marker.schemaVersion });
      (wasKnown || !(await this.#hasShards(classId)) ? deleted : unknown).push(classId);
    }
    return { deleted, unknown };
  }

  /** Also true of what is no folder: nobody here made it. */
  async #hasShards(classId: string): Promise<boolean> {
    const entries = await readdir(this.classFolder(classId), { withFileTypes: true }).catch(() => undefined);
    return entries === undefined || entries.some((entry) => entry.isDirectory());
  }

  async #marker(classId: string): Promise<ClassMarker | undefined> {
    try {
      return JSON.parse(await readFile(join(this.classFolder(classId), MARKER), "utf8")) as ClassMarker;
    } catch {
      return undefined;
    }
  }

  /** Where the shards of a class are. */
  classFolder(classId: string): string {
    return join(this.#root, checkedName(classId));
  }
}

function checkedName(name: string): string {
  if (!FOLDER_NAME.test(name)) throw new ShoalError("internal", `'${name}' cannot name a folder`);
  return name;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
