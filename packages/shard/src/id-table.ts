import type { DocumentSet } from "@shoal/inverted-index";
import { type ObjectId, objectIdFromBytes, ShoalError } from "@shoal/model";
import { CreationOrder } from "./creation-order.js";
import { ABSENT, DOCUMENT_BYTES, DOCUMENTS_MAX, DocumentChunks, END } from "./document-chunks.js";
import { hashesOf, IdHash, lastProbe } from "./id-hash.js";
import type { IdPresenceFilter } from "./id-presence-filter.js";
import { IdSetDigest } from "./id-set-digest.js";
import { PresentDocuments } from "./present-documents.js";
import { sortInSteps } from "./sort-in-steps.js";
import { TableOrder } from "./table-order.js";

/** A copy of the table at one sequence, as bytes of this machine. */
export interface IdTableImage {
  readonly documentLimit: number;
  readonly newest: number;
  readonly oldest: number;
  /** As `DocumentChunks.copyTo` wrote it. */
  readonly columns: Uint8Array;
}

/**
 * Which objects a shard has, in memory: uuid to document id and back, creation times, and the order of creation. About
 * 43 bytes an object (48 once objects were listed by id). Document ids are small: a free one is used again, so that
 * bitmaps stay dense. `reserve` hands one out, `insert` uses it; the caller of `remove` recycles it later.
 */
export class IdTable {
  readonly #chunks = new DocumentChunks();
  readonly #hash: IdHash;
  readonly #free: number[] = [];
  readonly #creation = new CreationOrder(this.#chunks);
  readonly #order = new TableOrder(this.#chunks, () => this.present().toArray());
  #expected: Readonly<IdSetDigest> | undefined = new IdSetDigest();
  #presenceFilter: IdPresenceFilter | undefined;
  readonly #digest = new IdSetDigest();
  readonly #present = new PresentDocuments();
  #documentLimit = 0;
  #isFollowing = false;

  constructor(hashSeed: number) {
    this.#hash = new IdHash(this.#chunks, hashSeed);
  }

  /** Objects in the table. */
  get count(): number {
    return this.#digest.count;
  }
  get digest(): Readonly<IdSetDigest> {
    return this.#digest;
  }
  /** The ids that have to be here, as the head record has them; undefined: nobody knows. */
  get expected(): Readonly<IdSetDigest> | undefined {
    return this.#expected;
  }
  set expected(ids: Readonly<IdSetDigest> | undefined) {
    this.#expected = ids;
    this.#presenceFilter?.consider(this);
  }
  /**
   * True when rows were lost to damage whose ids are not known either: an id that is not here may be that of a lost
   * object (reading its row tells), and no list of objects is whole. Ends when all that was lost is written again.
   */
  get doubtful(): boolean {
    return this.expected === undefined || !this.expected.equals(this.#digest);
  }
  /** Every document id is below it. */
  get documentLimit(): number {
    return this.#documentLimit;
  }

  /** The document of an object, or -1. */
  find(id: ObjectId): number {
    return this.#hash.find(lastProbe.read(id));
  }

  /** `rawId`: the 16 bytes of an id. */
  findRaw(rawId: Uint8Array): number {
    return this.#hash.find(lastProbe.readRaw(rawId));
  }

  has(document: number): boolean {
    return this.#chunks.has(document);
  }

  idOf(document: number): ObjectId | undefined {
    return this.#chunks.has(document) ? objectIdFromBytes(this.#chunks.idBytes(document)) : undefined;
  }

  /** The 16 bytes of the id of a document that is there, as a view. */
  rawIdOf(document: number): Uint8Array {
    return this.#chunks.idBytes(document);
  }

  /** Milliseconds since 1970; 0 when the row was lost. The document must be there. */
  creationTime(document: number): number {
    return this.#chunks.creationTime(document);
  }

  sortById(documents: Uint32Array, next: () => Promise<void>): Promise<Uint32Array> {
    return sortInSteps(this.#chunks, documents, next);
  }

  /** All documents, as they are now. */
  present(): DocumentSet {
    return this.#present.all(this.#documentLimit, this.#chunks);
  }

  /** A document id that is in no use. */
  reserve(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#documentLimit >= DOCUMENTS_MAX) {
      throw new ShoalError("tooLarge", `a shard holds at most ${DOCUMENTS_MAX} objects`);
    }
    this.#documentLimit += 1;
    this.#chunks.reserve(this.#documentLimit);
    return this.#documentLimit - 1;
  }

  recycle(document: number): void {
    if (!this.#isFollowing) this.#free.push(document);
  }

  /** Another copy gives documents to objects from now on: which are free is not known before `adoptFreeDocuments`. */
  follow(): void {
    this.#isFollowing = true;
    this.#free.length = 0;
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Adds an object. The document id is a reserved one. */
  insert(rawId: Uint8Array, document: number, creationTime: number): void {
    this.#insert(rawId, document, creationTime, true);
  }

  /**
   * Adds an object to a table that is being rebuilt, with any unused document id and in any order;
   * `adoptFreeDocuments` and `sortByCreationTime` end such a rebuild.
   */
  insertUnsorted(rawId: Uint8Array, document: number, creationTime: number): void {
    this.#insert(rawId, document, creationTime, false);
  }

  #insert(rawId: Uint8Array, document: number, creationTime: number, inOrder: boolean): void {
    if (this.#chunks.has(document) || this.findRaw(rawId) >= 0) {
      const id = objectIdFromBytes(rawId);
      throw new ShoalError("internal", `object ${id} or document ${document} is in the table already`);
    }
    if (document >= this.#documentLimit) {
      this.#documentLimit = document + 1;
      this.#chunks.reserve(this.#documentLimit);
    }
    this.#chunks.setId(document, lastProbe.words);
    this.#chunks.setCreationTime(document, creationTime);
    this.#hash.add(document);
    this.#order.inserted(document);
    this.#present.inserted(document);
    if (inOrder) this.#creation.link(document);
    else this.#creation.linkNewest(document);
    this.#digest.add(rawId);
    this.#presenceFilter?.add(lastProbe.readRaw(rawId));
  }

  /** Gives an object that is there another creation time. */
  renew(document: number, creationTime: number): void {
    this.#creation.unlink(document);
    this.#chunks.setCreationTime(document, creationTime);
    this.#creation.link(document);
  }

  /** Takes an object out. Its document id stays taken until it is recycled. */
  remove(document: number): void {
    const rawId = this.rawIdOf(document);
    this.#digest.remove(rawId);
    this.#presenceFilter?.remove(lastProbe.readRaw(rawId));
    this.#hash.remove(document);
    this.#order.removed(document);
    this.#present.removed(document);
    this.#creation.unlink(document);
    this.#chunks.setOlder(document, ABSENT);
  }

  /** Documents by creation, newest first. The table must not change while this is being iterated. */
  newestFirst(): Iterable<number> {
    return this.#creation.newestFirst();
  }

  /** So many documents behind the first `skip`: newest first, those of one time by raw uuid. */
  newestPage(skip: number, limit: number): number[] {
    return this.#creation.page(skip, limit);
  }

  /** Has `byId` ready when it resolves; undefined: it is. No document may be recycled before. */
  makeIdOrder(next: () => Promise<void>): Promise<void> | undefined {
    return this.#order.make(next);
  }

  /** Documents by raw uuid, above `id` when one is given. The table must not change while this is being iterated. */
  byId(id?: ObjectId): Iterable<number> {
    if (id === undefined) return this.#order.after();
    const { word0, word1, word2, word3 } = lastProbe.read(id);
    return this.#order.after([word0, word1, word2, word3]);
  }

  /** Notes that the row of an object was lost: it becomes the oldest one, created at 0. */
  markLost(document: number): void {
    this.renew(document, 0);
  }

  /** An object whose row was lost, and with it its vector; they are the oldest ones. Undefined when there is none. */
  lostObject(): ObjectId | undefined {
    const { oldest } = this.#creation;
    return oldest !== END && this.#chunks.creationTime(oldest) === 0 ? this.idOf(oldest) : undefined;
  }

  /** Takes a document id off the free ones, when it is among them. */
  claim(document: number): void {
    const at = this.#free.lastIndexOf(document);
    if (at >= 0) this.#free.splice(at, 1);
  }

  /** Orders by creation time what was inserted in any order; equal times by document. */
  sortByCreationTime(): void {
    const documents = Uint32Array.from(this.newestFirst()).sort();
    const times = Float64Array.from(documents, (document) => this.#chunks.creationTime(document));
    const order = Array.from(documents.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
    this.#creation.adopt(END, END);
    for (const index of order) this.#creation.linkNewest(documents[index] ?? 0);
  }

  /**
   * Makes every id below the limit that no object has available, but those that will be recycled. For tables that were filled by
   * `insert` alone.
   */
  adoptFreeDocuments(held?: ReadonlySet<number>): void {
    this.#isFollowing = false;
    this.#free.length = 0;
    for (let document = this.#documentLimit - 1; document >= 0; document--) {
      if (!this.#chunks.has(document) && held?.has(document) !== true) this.#free.push(document);
    }
  }

  /** Has its ids counted in a presence filter, in no other one any more. */
  countIn(presenceFilter: IdPresenceFilter | undefined): void {
    this.#presenceFilter?.leave(this);
    this.#presenceFilter = presenceFilter;
    presenceFilter?.enter(this);
  }

  eachHash(seed: number, visit: (hash: number) => void): void {
    this.#chunks.eachRun(this.#documentLimit, (_first, words, links) => {
      for (const [at, hash] of hashesOf(words, seed).entries()) if (links[at] !== ABSENT) visit(hash);
    });
  }

  memoryBytes(): number {
    const views = this.#order.memoryBytes() + this.#present.memoryBytes();
    return this.#chunks.memoryBytes() + this.#hash.memoryBytes() + views + this.#free.length * 8;
  }

  /** Takes about 5 ms for a million objects. */
  image(): IdTableImage {
    const columns = new Uint8Array(this.#documentLimit * DOCUMENT_BYTES);
    this.#chunks.copyTo(columns, this.#documentLimit);
    const { newest, oldest } = this.#creation;
    return { documentLimit: this.#documentLimit, newest, oldest, columns };
  }

  static fromImage(image: IdTableImage, hashSeed: number): IdTable {
    const table = new IdTable(hashSeed);
    const chunks = table.#chunks;
    table.#hash.reserve(image.documentLimit);
    table.#documentLimit = image.documentLimit;
    chunks.copyFrom(image.columns, image.documentLimit);
    table.#creation.adopt(image.newest, image.oldest);
    chunks.eachRun(image.documentLimit, (first, words, links) => {
      table.#hash.addRun(first, words, links);
      table.#digest.addRun(words, links);
    });
    table.adoptFreeDocuments();
    return table;
  }
}
