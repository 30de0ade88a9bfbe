import { access, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isStoreFolder, makeDurableFolder, writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { goesOnFrom, type SchemaSnapshot } from "@shoal/rpc";
import { type ClassMarker, FOLDER_NAME, type MadeShard, MadeShards } from "./made-shards.js";

/** The {@link ClassMarker}, written once into the folder of a class. */
const MARKER = "class.json";

/** Of a class whose own is damaged: it is part of no schema, so nothing is dropped because of it. */
const NO_MARKER: ClassMarker = { className: "", historyId: "", schemaVersion: 0 };

/** In the folder of a copy that was found damaged: what was found. */
const DAMAGE = "damaged.txt";

/** Prefix of folders whose removal has begun. */
const GOING = "going-";

/** Where the store of a shard is. */
export function rowsFolder(shardFolder: string): string {
  return join(shardFolder, "rows");
}

/**
 * The folders of a storage node: `<root>/<class id>/<shard name>`. A dropped class is a dropped folder, a moved shard a
 * moved folder. Which of them were once made stands in `<root>.json`: those are never made a second time.
 */
export class ShardFolders {
  readonly #root: string;
  readonly #made: MadeShards;
  /** Classes whose folders are being made: shards of one class are opened at once. */
  readonly #making = new Map<string, Promise<void>>();

  private constructor(root: string, made: MadeShards) {
    this.#root = root;
    this.#made = made;
  }

  /**
   * Creates `root` when it is missing, unless shards were made in it (so that it can be put back), and finishes removals that
   * were interrupted.
   */
  static async open(root: string): Promise<ShardFolders> {
    const made = await MadeShards.open(`${root}.json`, () => shardsOnDisk(root));
    if (made.isEmpty) await makeDurableFolder(root);
    for (const name of await namesIn(root)) {
      if (name.startsWith(GOING)) await rm(join(root, name), { recursive: true, force: true });
    }
    return new ShardFolders(root, made);
  }

  /** Whether the shard was once complete on this node; it is an error then when it is not there. */
  isMade(classId: string, shardName: string): boolean {
    return this.#made.has(classId, shardName);
  }

  /** To be awaited when a shard is complete on disk, before it takes a write. */
  async keepMade(classId: string, shardName: string): Promise<void> {
    if (this.isMade(classId, shardName)) return;
    const marker = (await readMarker(this.classFolder(classId))) ?? NO_MARKER;
    await this.#made.add({ classId, shardName, marker });
  }

  /**
   * The folder of a shard, created with its class's marker when it is missing; durable, with the way to it. One that was
   * made before is not created: an empty folder would stand in the way of the one that is put back.
   */
  async shard(classId: string, shardName: string, marker: ClassMarker): Promise<string> {
    const folder = join(this.classFolder(classId), checkedName(shardName));
    if (this.isMade(classId, shardName)) return folder;
    let making = this.#making.get(classId);
    if (making === undefined) {
      making = this.#makeClass(classId, marker).finally(() => this.#making.delete(classId));
      this.#making.set(classId, making);
    }
    await making;
    await makeDurableFolder(folder);
    return folder;
  }

  /** What {@link keepDamage} was told of the shard. */
  async damage(classId: string, shardName: string): Promise<string | undefined> {
    const file = join(this.classFolder(classId), checkedName(shardName), DAMAGE);
    return readFile(file, "utf8").then(
      (text) => text.trim(),
      (thrown: unknown) => {
        if (isMissing(thrown)) return undefined;
        throw thrown;
      },
    );
  }

  /** Remembers over restarts that the shard is damaged, until its folder is removed. */
  async keepDamage(classId: string, shardName: string, reason: string): Promise<void> {
    await writeDurableFile(join(this.classFolder(classId), checkedName(shardName), DAMAGE), `${reason}\n`);
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

  /** Removes one shard, whose data others have: it may be made anew. What is left after a crash goes at the next start. */
  async removeShard(classId: string, shardName: string): Promise<void> {
    const folder = join(this.classFolder(classId), checkedName(shardName));
    await this.#made.remove(classId, shardName);
    const going = join(this.#root, `${GOING}${checkedName(classId)}-${shardName}`);
    await rm(going, { recursive: true, force: true });
    try {
      await rename(folder, going);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
    await rm(going, { recursive: true, force: true });
  }

  /** Removes all shards of a class. The folder is renamed first: what is left after a crash goes at the next start. */
  async drop(classId: string): Promise<void> {
    const going = join(this.#root, GOING + checkedName(classId));
    try {
      await rename(this.classFolder(classId), going);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
    await rm(going, { recursive: true, force: true });
    await this.#made.forget(classId);
  }

  /**
   * Classes on disk, or made once, that the schema does not have. `deleted` were in it at an earlier version, so their data may go, or have
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
    const onDisk = new Set((await namesIn(this.#root)).filter((name) => FOLDER_NAME.test(name)));
    for (const classId of new Set([...onDisk, ...this.#made.classIds])) {
      if (known.has(classId)) continue;
      const marker = (await readMarker(this.classFolder(classId))) ?? this.#made.marker(classId);
      const wasKnown =
        marker !== undefined && goesOnFrom(schema, { historyId: marker.historyId, version: marker.schemaVersion });
      if (wasKnown || (onDisk.has(classId) && !(await this.#hasShards(classId)))) deleted.push(classId);
      else if (onDisk.has(classId)) unknown.push(classId);
    }
    return { deleted, unknown };
  }

  /** Also true of what is no folder: nobody here made it. */
  async #hasShards(classId: string): Promise<boolean> {
    const entries = await readdir(this.classFolder(classId), { withFileTypes: true }).catch(() => undefined);
    return entries === undefined || entries.some((entry) => entry.isDirectory());
  }

  /** Where the shards of a class are. */
  classFolder(classId: string): string {
    return join(this.#root, checkedName(classId));
  }
}

/** What a release without a list has left: every folder that holds a store, whole or damaged. */
async function shardsOnDisk(root: string): Promise<readonly MadeShard[]> {
  const shards: MadeShard[] = [];
  for (const classId of (await namesIn(root)).filter((name) => FOLDER_NAME.test(name))) {
    const folder = join(root, classId);
    const marker = (await readMarker(folder)) ?? NO_MARKER;
    for (const shardName of (await namesIn(folder)).filter((name) => FOLDER_NAME.test(name))) {
      if (await isStoreFolder(rowsFolder(join(folder, shardName)))) shards.push({ classId, shardName, marker });
    }
  }
  return shards;
}

async function readMarker(classFolder: string): Promise<ClassMarker | undefined> {
  try {
    return JSON.parse(await readFile(join(classFolder, MARKER), "utf8")) as ClassMarker;
  } catch {
    return undefined;
  }
}

/** None where there is no folder, or a file. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((thrown: unknown) => {
    if (isMissing(thrown) || isCode(thrown, "ENOTDIR")) return [];
    throw thrown;
  });
}

function checkedName(name: string): string {
  if (!FOLDER_NAME.test(name)) throw new ShoalError("internal", `'${name}' cannot name a folder`);
  return name;
}

function isMissing(thrown: unknown): boolean {
  return isCode(thrown, "ENOENT");
}

function isCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
