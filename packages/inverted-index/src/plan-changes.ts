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
import { analyseInSteps, analyseValue } from "./analysis/analyse-value.js";
import { STEP_CHARS } from "./analysis/tokens.js";
import { damaged, type IndexPlace } from "./index-place.js";
import { indexYielder } from "./index-yielder.js";
import type { IndexedChange, IndexedState } from "./inverted-index.js";
import type { IndexStore, NeededRecords } from "./stored/index-store.js";
import type { DraftStep } from "./stored/posting-draft.js";
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

function* plan(store: IndexStore, properties: PropertyIndexes, changes: readonly IndexedChange[]): Work<ChangePlan> {
  const yielder = indexYielder();
  const drafter = new Drafter(store.place, properties, yielder);
  for (const change of changes) {
    const bytes = (change.before?.propertiesJson.length ?? 0) + (change.after?.propertiesJson.length ?? 0);
    if (bytes > STEP_CHARS) yield* drafter.changeInSteps(change);
    else drafter.change(change);
    yielder.count(CHANGE_STEPS + bytes * BYTE_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  const needed: NeededRecords[] = [];
  for (const draft of drafter.drafts) needed.push(...(yield* draft.needs(yielder)));
  if (needed.length > 0) yield readRecords(store, needed);
  const batch: KeyValueChange[] = [];
  const steps: DraftStep[] = [];
  for (const draft of drafter.drafts) yield* draft.finish(batch, steps, yielder);
  const isLarge = steps.reduce((sum, { changes }) => sum + changes, 0) > APPLIED_MAX;
  return {
    batch,
    steps: steps.map(
      ({ apply }) =>
        () =>
          apply(isLarge),
    ),
  };
}

async function readRecords(store: IndexStore, needed: readonly NeededRecords[]): Promise<void> {
  const count = needed.reduce((sum, { keys }) => sum + keys.length, 0);
  if (count > READ_TOGETHER_MAX) return readInParts(store, needed);
  const values = await store.reader.getMany(needed.flatMap((records) => records.keys));
  let taken = 0;
  for (const { keys, take } of needed) {
    take(values.slice(taken, taken + keys.length), 0);
    taken += keys.length;
  }
}

async function readInParts(store: IndexStore, needed: readonly NeededRecords[]): Promise<void> {
  for (const { keys, take } of needed) {
    for (let from = 0; from < keys.length; from += READ_TOGETHER_MAX) {
      take(await store.reader.getMany(keys.slice(from, from + READ_TOGETHER_MAX)), from);
      // The answers of a store in memory come at once.
      await eventLoop.next();
    }
  }
}

interface ChangedValue {
  readonly index: PropertyIndex;
  readonly document: number;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
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
    this.#values(change, ({ index, document, before, after }) => {
      const { property } = index;
      try {
        this.#draft(index).change(document, analyseValue(property, before), analyseValue(property, after));
      } catch (error) {
        throw this.#unreadable(property.name, error);
      }
    });
  }

  /** As {@link change}, for an object with long texts. */
  *changeInSteps(change: IndexedChange): Work<void> {
    const values: ChangedValue[] = [];
    this.#times(change);
    this.#values(change, (value) => values.push(value));
    for (const { index, document, before, after } of values) {
      const { property } = index;
      try {
        const from = yield* analyseInSteps(property, before, this.#yielder);
        const to = yield* analyseInSteps(property, after, this.#yielder);
        yield* this.#draft(index).changeInSteps(document, from, to, this.#yielder);
      } catch (error) {
        throw this.#unreadable(property.name, error);
      }
    }
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
  #values({ document, before, after }: IndexedChange, visit: (value: ChangedValue) => void): void {
    if (before !== undefined && after !== undefined) this.#difference(document, before, after, visit);
    else if (after !== undefined) {
      this.#all(after, (index, value) => visit({ index, document, before: undefined, after: value }));
    } else if (before !== undefined) {
      this.#all(before, (index, value) => visit({ index, document, before: value, after: undefined }));
    }
  }

  #all(state: IndexedState, visit: (index: PropertyIndex, value: Json) => void): void {
    const { propertiesJson } = state;
    if (propertiesJson.length > PARSED_WHOLE_BYTES_MAX) {
      for (const [name, member] of jsonMembers(propertiesJson)) {
        const index = this.#index(name);
        if (index.property.kind !== "none") visit(index, memberOf(index, member));
      }
      return;
    }
    for (const [name, value] of Object.entries(parsed(propertiesJson) as JsonObject)) {
      const index = this.#index(name);
      if (index.property.kind !== "none") visit(index, value);
    }
  }

  /** Members whose bytes are the same are left alone. */
  #difference(document: number, from: IndexedState, to: IndexedState, visit: (value: ChangedValue) => void): void {
    const old = jsonMembers(from.propertiesJson);
    for (const [name, member] of jsonMembers(to.propertiesJson)) {
      const index = this.#index(name);
      const oldMember = old.get(name);
      old.delete(name);
      if (index.property.kind === "none") continue;
      if (oldMember !== undefined && Buffer.compare(oldMember, member) === 0) continue;
      const before = oldMember === undefined ? undefined : memberOf(index, oldMember);
      visit({ index, document, before, after: memberOf(index, member) });
    }
    for (const [name, member] of old) {
      const index = this.#index(name);
      if (index.property.kind === "none") continue;
      visit({ index, document, before: memberOf(index, member), after: undefined });
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

/** Of `null`, the one stored value that is none. */
const NULL_START = 0x6e;

/** What a value is does not matter where only its presence does: blobs may be long. */
function memberOf({ property }: PropertyIndex, member: Uint8Array): Json {
  return property.kind === "presence" && member[0] !== NULL_START ? true : parsed(member);
}

function parsed(json: Uint8Array): Json {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString()) as Json;
}
