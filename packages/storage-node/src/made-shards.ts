import { readFile } from "node:fs/promises";
import { writeDurableFile } from "@shoal/kv";
import { ShoalError } from "@shoal/model";

/** Ids become folder names only in this form, so nothing a client says reaches a path. */
export const FOLDER_NAME = /^[A-Za-z0-9]{1,64}$/;

/** Tells a deleted class from a schema that was lost. */
export interface ClassMarker {
  readonly className: string;
  /** Of the schema that the class belongs to. */
  readonly historyId: string;
  /** Version of the schema at which this node first saw the class. */
  readonly schemaVersion: number;
}

interface MadeClass {
  readonly marker: ClassMarker;
  readonly shards: Set<string>;
}

/** One shard that is complete on disk. */
export interface MadeShard {
  readonly classId: string;
  readonly shardName: string;
  readonly marker: ClassMarker;
}

/**
 * The shards that were once completely made on this node, in a file outside of their folders: a shard that is in the list
 * and not on disk was lost, and is not restarted. `{"classes":{"<class id>":{<marker>,"shards":["<name>"]}}}`.
 */
export class MadeShards {
  readonly #file: string;
  readonly #classes: Map<string, MadeClass>;
  /** The last write of the file, and the one that takes up what has changed since that began. */
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  private constructor(file: string, classes: Map<string, MadeClass>) {
    this.#file = file;
    this.#classes = classes;
  }

  /**
   * Reads the list. Where there is none, the folder is new or of a release without a list: what `find` gives is taken
   * into it. On a disk that takes no writes it is made with the next shard, so that what there is can be served.
   */
  static async open(file: string, find: () => Promise<readonly MadeShard[]>): Promise<MadeShards> {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text !== undefined) return new MadeShards(file, parseClasses(file, text));
    const made = new MadeShards(file, new Map());
    for (const shard of await find()) made.#enter(shard);
    await made.#write().catch(() => undefined);
    return made;
  }

  get isEmpty(): boolean {
    return this.#classes.size === 0;
  }

  get classIds(): readonly string[] {
    return [...this.#classes.keys()];
  }

  has(classId: string, shardName: string): boolean {
    return this.#classes.get(classId)?.shards.has(shardName) ?? false;
  }

  marker(classId: string): ClassMarker | undefined {
    return this.#classes.get(classId)?.marker;
  }

  /** Durable when it resolves: to be awaited after the shard is complete on disk, and before it takes a write. */
  async add(shard: MadeShard): Promise<void> {
    const { classId, shardName } = shard;
    if (this.has(classId, shardName)) return;
    this.#enter(shard);
    try {
      await this.#write();
    } catch (thrown) {
      // It is tried again with the next opening of the shard.
      const shards = this.#classes.get(classId)?.shards;
      shards?.delete(shardName);
      if (shards?.size === 0) this.#classes.delete(classId);
      throw thrown;
    }
  }

  /** Durable when it resolves: the shard may be made anew then. */
  async remove(classId: string, shardName: string): Promise<void> {
    const made = this.#classes.get(classId);
    if (made?.shards.delete(shardName) !== true) return;
    if (made.shards.size === 0) this.#classes.delete(classId);
    try {
      await this.#write();
    } catch (thrown) {
      this.#enter({ classId, shardName, marker: made.marker });
      throw thrown;
    }
  }

  /** After a class was dropped. Never rejects: an entry that stays harms nobody, and goes with the next write. */
  async forget(classId: string): Promise<void> {
    if (this.#classes.delete(classId)) await this.#write().catch(() => undefined);
  }

  #enter({ classId, shardName, marker }: MadeShard): void {
    const known = this.#classes.get(classId);
    if (known === undefined) this.#classes.set(classId, { marker, shards: new Set([shardName]) });
    else known.shards.add(shardName);
  }

  /** Calls that come during a write share the next one. */
  #write(): Promise<void> {
    this.#next ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return writeDurableFile(this.#file, this.#text());
      });
    this.#writing = this.#next;
    return this.#next;
  }

  #text(): string {
    const classes = Object.fromEntries(
      Array.from(this.#classes, ([classId, { marker, shards }]) => [classId, { ...marker, shards: [...shards] }]),
    );
    return `${JSON.stringify({ classes })}\n`;
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseClasses(file: string, text: string): Map<string, MadeClass> {
  const classes = new Map<string, MadeClass>();
  try {
    const list = JSON.parse(text) as {
      readonly classes: Readonly<Record<string, ClassMarker & { readonly shards: readonly string[] }>>;
    };
    if (!isPlain(list.classes)) throw new Error("its classes are no object");
    for (const [classId, { shards, className, historyId, schemaVersion }] of Object.entries(list.classes)) {
      if (!Array.isArray(shards)) throw new Error(`the shards of ${classId} are no list`);
      if (![classId, ...shards].every((name) => FOLDER_NAME.test(name))) throw new Error(`${classId} names no folders`);
      classes.set(classId, { marker: { className, historyId, schemaVersion }, shards: new Set(shards) });
    }
    return classes;
  } catch (thrown) {
    throw new ShoalError(
      "dataLoss",
      `'${file}' is not the list of the shards that this node has made: put it back, or, when all their folders are there, ` +
        "remove it and start once with CLUSTER_ACCEPT_DATA_LOSS=true: it is made anew from them",
      { cause: thrown },
    );
  }
}
