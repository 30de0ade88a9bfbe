import { DocumentSet } from "@shoal/inverted-index";

/**
 * The documents that are there as a set, once somebody has asked for it. Who got it keeps it as it was: the next change
 * is made to a copy.
 */
export class PresentDocuments {
  #set: DocumentSet | undefined;
  #isShared = false;

  /** The first call asks `table` for each document below `documentLimit`. */
  all(documentLimit: number, table: { has(document: number): boolean }): DocumentSet {
    this.#set ??= presentIn(documentLimit, table);
    this.#isShared = true;
    return this.#set;
  }

  inserted(document: number): void {
    this.#owned()?.add(document);
  }

  removed(document: number): void {
    this.#owned()?.delete(document);
  }

  memoryBytes(): number {
    return this.#set?.words.byteLength ?? 0;
  }

  #owned(): DocumentSet | undefined {
    if (this.#isShared) this.#set = this.#set?.copy();
    this.#isShared = false;
    return this.#set;
  }
}

function presentIn(documentLimit: number, table: { has(document: number): boolean }): DocumentSet {
  const documents = new DocumentSet(documentLimit);
  for (let document = 0; document < documentLimit; document++) if (table.has(document)) documents.add(document);
  return documents;
}
