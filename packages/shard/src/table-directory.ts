import type { DocumentSet, ObjectDirectory } from "@shoal/inverted-index";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { IdTable } from "./id-table.js";
import { heldBytes, readObjects } from "./read-objects.js";
import type { FoundObject, RowReader } from "./read-rows.js";

const PROPERTIES = { properties: true, vector: false, extras: false } as const;

/** What the inverted index learns about the objects: answers from the id table, and rows for the few that need a look. */
export class TableDirectory implements ObjectDirectory {
  readonly #table: IdTable;
  readonly #rows: RowReader;
  /** Of rows, not of the index. */
  readonly #failures = new WeakSet<ShoalError>();

  constructor(table: IdTable, rows: RowReader) {
    this.#table = table;
    this.#rows = rows;
  }

  get documentLimit(): number {
    return this.#table.documentLimit;
  }
  get count(): number {
    return this.#table.count;
  }

  all(): DocumentSet {
    return this.#table.present();
  }

  find(id: ObjectId): number {
    return this.#table.find(id);
  }

  idOf(document: number): ObjectId | undefined {
    return this.#table.idOf(document);
  }

  byId(after?: ObjectId): Iterable<number> {
    return this.#table.byId(after);
  }

  async propertiesOf(
    documents: readonly number[],
    bounds: WorkBounds = {},
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const objects: FoundObject[] = [];
    const places: number[] = [];
    for (const [at, document] of documents.entries()) {
      const id = this.#table.idOf(document);
      if (id === undefined) continue;
      objects.push({ id, document });
      places.push(at);
    }
    const result: (Uint8Array | undefined)[] = documents.map(() => undefined);
    try {
      const read = await readObjects(this.#rows, objects, { className: "", fields: PROPERTIES, bounds });
      let held = 0;
      for (const [at, object] of read.entries()) {
        if (object === undefined) continue;
        held += heldBytes(object);
        result[places[at] ?? 0] = object.propertiesJson;
      }
      // They are looked at and let go of: no result holds them.
      bounds.rowBytes?.add(-held);
    } catch (thrown) {
      if (thrown instanceof ShoalError) this.#failures.add(thrown);
      throw thrown;
    }
    return result;
  }

  /** Whether an error came from reading rows. */
  hasFailedWith(error: ShoalError): boolean {
    return this.#failures.has(error);
  }
}
