import type { KeyValueChange } from "@shoal/kv";
import {
  CREATION_TIME_PROPERTY,
  type Json,
  type JsonObject,
  jsonMembers,
  LAST_UPDATE_TIME_PROPERTY,
  ShoalError,
} from "@shoal/model";
import { eventLoop, runWork, type Work, type Yielder } from "@shoal/runtime";
import { analyseInSteps, analyseValue, parsed, parsedMember } from "./analysis/analyse-value.js";
import { DistinctBytes } from "./analysis/distinct-bytes.js";
import { STEP_CHARS } from "./analysis/tokens.js";
import { damaged, type IndexPlace } from "./index-place.js";
import { indexYielder } from "./index-yielder.js";
import type { IndexedChange, IndexedState } from "./inverted-index.js";
import type { IndexStore, NeededRecords } from "./stored/index-store.js";
import { PropertyDraft } from "./stored/property-draft.js";
import type { PropertyIndex } from "./stored/property-index.js";

/** What a commit writes and what it changes in memory. */
export interface ChangePlan {
  readonly batch: readonly KeyValueChange[];
  /** To be called in this order once the batch is durable. */
  readonly steps: readonly (() => void)[];
}

/** Steps that a change takes, five microseconds or so, and a byte of its properties, ten nanoseconds. */
const CHANGE_STEPS = 2_000;
const BYTE_STEPS = 4;
/** Larger properties are split into members first: most of their bytes may not be indexed. */
const PARSED_WHOLE_BYTES_MAX = 2048;
/**
 * Memory of the process for each byte of a long value: of the different words of a text, which take a key and a record each (measured:
 * 50), and of everything else.
 */
const WORD_MEMORY = 50;
const OTHER_MEMORY = 6;
const NO_BYTES = new Uint8Array(0);
/** When the node may know a property that it does not know yet. */
const SECONDS_LATER = 1;
/** Records that are read by one call. */
const READ_TOGETHER_MAX = 8192;
/** Changes of postings that one step makes in memory: 30 ms or so. */
const APPLIED_MAX = 100_000;

/** By name, times included. */
export type PropertyIndexes = ReadonlyMap<string, PropertyIndex>;

/** At once when all that the commit has to know is in memory; in steps when it is long. */
export function planChanges(
  store: IndexStore,
  properties: PropertyIndexes,
  changes: readonly IndexedChange[],
): ChangePlan | Promise<ChangePlan> {
  return runWork(plan(store, properties, changes));
}

/** About what the long values of changes take from {@link planChanges} until the commit has ended, at most. */
export function memoryOfChanges(
  store: IndexStore,
  properties: PropertyIndexes,
  changes: readonly IndexedChange[],
): number | Promise<number> {
  const long = changes.filter(isLong);
  return long.length === 0 ? 0 : runWork(memoryOf(store, properties, long));
}

function* memoryOf(store: IndexStore, properties: PropertyIndexes, changes: readonly IndexedChange[]): Work<number> {
  const drafter = new Drafter(store.place, properties, indexYielder());
  let bytes = 0;
  for (const change of changes) bytes += yield* drafter.memoryOf(change);
  return bytes;
}

function isLong({ before, after }: IndexedChange): boolean {
  return (before?.propertiesJson.length ?? 0) + (after?.propertiesJson.length ?? 0) > STEP_CHARS;
}

function* plan(store: IndexStore, properties: PropertyIndexes, changes: readonly IndexedChange[]): Work<ChangePlan> {
  const yielder = indexYielder();
  const drafter = new Drafter(store.place, properties, yielder);
  for (const change of changes) {
    const bytes = (change.before?.propertiesJson.length ?? 0) + (change.after?.propertiesJson.length ?? 0);
    if (isLong(change)) yield* drafter.changeInSteps(change);
    else drafter.change(change);
    yielder.count(CHANGE_STEPS + bytes * BYTE_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  const needed: NeededRecords[] = [];
  for (const draft of drafter.drafts) needed.push(...(yield* draft.needs(yielder)));
  if (needed.length > 0) yield readRecords(store, needed);
  const batch: KeyValueChange[] = [];
  const steps: (() => void)[] = [];
  const isLarge = drafter.drafts.reduce((sum, draft) => sum + draft.postings, 0) > APPLIED_MAX;
  for (const draft of drafter.drafts) yield* draft.finish(batch, steps, isLarge, yielder);
  return { batch, steps };
}

async function readRecords(store: IndexStore, needed: readonly NeededRecords[]): Promise<void> {
  const all = needed.reduce((sum, { count }) => sum + count, 0);
  if (all > READ_TOGETHER_MAX) return readInParts(store, needed);
  const values = await store.reader.getMany(needed.flatMap(({ count, keys }) => keys(0, count)));
  let taken = 0;
  for (const { count, take } of needed) {
    take(values.slice(taken, taken + count), 0);
    taken += count;
  }
}

async function readInParts(store: IndexStore, needed: readonly NeededRecords[]): Promise<void> {
  for (const { count, keys, take } of needed) {
    for (let from = 0; from < count; from += READ_TOGETHER_MAX) {
      take(await store.reader.getMany(keys(from, Math.min(count, from + READ_TOGETHER_MAX))), from);
      // The results of a store in memory come at once.
      await eventLoop.next();
    }
  }
}

interface ChangedMember {
  readonly index: PropertyIndex;
  /** JSON; undefined: there is none. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

class Drafter {
  readonly #place: IndexPlace;
  readonly #properties: PropertyIndexes;
  readonly #yielder: Yielder;
  readonly #drafts = new Map<PropertyIndex, PropertyDraft>();

  constructor(place: IndexPlace, properties: PropertyIndexes, yielder: Yielder) {
    this.#place = place;
    this.#properties = properties;
    this.#yielder = yielder;
  }

  get drafts(): readonly PropertyDraft[] {
    return [...this.#drafts.values()];
  }

  change(change: IndexedChange): void {
    this.#times(change);
    this.#values(change, (index, before, after) => {
      const { property } = index;
      try {
        this.#draft(index).change(change.document, analyseValue(property, before), analyseValue(property, after));
      } catch (error) {
        throw this.#unreadable(property.name, error);
      }
    });
  }

  /** As {@link change}, for an object with long texts or lists. */
  *changeInSteps(change: IndexedChange): Work<void> {
    const members: ChangedMember[] = [];
    this.#times(change);
    this.#members(change, (member) => members.push(member));
    for (const { index, before, after } of members) {
      const { property } = index;
      try {
        const from = yield* analyseInSteps(property, before, this.#yielder);
        const to = yield* analyseInSteps(property, after, this.#yielder);
        yield* this.#draft(index).changeInSteps(change.document, from, to, this.#yielder);
      } catch (error) {
        throw this.#unreadable(property.name, error);
      }
    }
  }

  *memoryOf(change: IndexedChange): Work<number> {
    const members: ChangedMember[] = [];
    this.#members(change, (member) => members.push(member));
    let bytes = 0;
    for (const { index, before = NO_BYTES, after = NO_BYTES } of members) {
      const { kind, tokenization } = index.property;
      const length = before.length + after.length;
      if (length <= STEP_CHARS || kind === "presence") continue;
      bytes += length * OTHER_MEMORY;
      if (kind !== "text") continue;
      const distinct = new DistinctBytes(length, tokenization);
      for (const json of [before, after]) yield* distinct.add(json, this.#yielder);
      bytes += Math.min(length, distinct.bytes) * (WORD_MEMORY - OTHER_MEMORY);
    }
    return bytes;
  }

  #times({ document, before, after }: IndexedChange): void {
    this.#time(CREATION_TIME_PROPERTY, document, before?.creationTimeUnix, after?.creationTimeUnix);
    this.#time(LAST_UPDATE_TIME_PROPERTY, document, before?.lastUpdateTimeUnix, after?.lastUpdateTimeUnix);
  }

  #time(name: string, document: number, before: number | undefined, after: number | undefined): void {
    const index = this.#index(name);
    if (before === after || index.numbers === undefined) return;
    this.#draft(index).setColumn(index.numbers, document, before, after);
  }

  /** Visits the indexed values that are not the same before and after. */
  #values(
    change: IndexedChange,
    visit: (index: PropertyIndex, before: Json | undefined, after: Json | undefined) => void,
  ): void {
    const { before, after } = change;
    const only = before === undefined ? after : after === undefined ? before : undefined;
    if (only === undefined || only.propertiesJson.length > PARSED_WHOLE_BYTES_MAX) {
      this.#members(change, ({ index, before: from, after: to }) => {
        visit(index, parsedMember(index.property, from), parsedMember(index.property, to));
      });
      return;
    }
    for (const [name, value] of Object.entries(parsed(only.propertiesJson) as JsonObject)) {
      const index = this.#index(name);
      if (index.property.kind === "none") continue;
      if (after === undefined) visit(index, value, undefined);
      else visit(index, undefined, value);
    }
  }

  /** As {@link #values}, without parsing them. Members whose bytes are the same are left alone. */
  #members({ before, after }: IndexedChange, visit: (member: ChangedMember) => void): void {
    const old = membersOf(before);
    for (const [name, member] of membersOf(after)) {
      const index = this.#index(name);
      const oldMember = old.get(name);
      old.delete(name);
      if (index.property.kind === "none") continue;
      if (oldMember !== undefined && Buffer.compare(oldMember, member) === 0) continue;
      visit({ index, before: oldMember, after: member });
    }
    for (const [name, member] of old) {
      const index = this.#index(name);
      if (index.property.kind !== "none") visit({ index, before: member, after: undefined });
    }
  }

  #unreadable(property: string, error: unknown): ShoalError {
    return damaged(this.#place, property, `a stored value cannot be read: ${ShoalError.from(error).message}`, error);
  }

  #draft(index: PropertyIndex): PropertyDraft {
    const known = this.#drafts.get(index);
    if (known !== undefined) return known;
    const draft = new PropertyDraft(index);
    this.#drafts.set(index, draft);
    return draft;
  }

  #index(name: string): PropertyIndex {
    const index = this.#properties.get(name);
    if (index !== undefined) return index;
    const { className, shardName } = this.#place;
    throw new ShoalError(
      "unavailable",
      `shard '${shardName}' of class '${className}' does not know property '${name}' yet: it follows the schema`,
      { retryAfterSeconds: SECONDS_LATER },
    );
  }
}

function membersOf(state: IndexedState | undefined): Map<string, Uint8Array> {
  return state === undefined ? new Map() : jsonMembers(state.propertiesJson);
}
