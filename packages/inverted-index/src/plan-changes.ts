import { setImmediate } from "node:timers/promises";
import type { KeyValueChange } from "@shoal/kv";
import {
  CREATION_TIME_PROPERTY,
  type Json,
  type JsonObject,
  jsonMembers,
  LAST_UPDATE_TIME_PROPERTY,
  ShoalError,
} from "@shoal/model";
import { analyseValue } from "./analysis/analyse-value.js";
import { damaged, type IndexPlace } from "./index-place.js";
import type { IndexedChange, IndexedState } from "./inverted-index.js";
import type { IndexStore } from "./stored/index-store.js";
import { PropertyDraft } from "./stored/property-draft.js";
import type { PropertyIndex } from "./stored/property-index.js";

/** What a commit writes and what it changes in memory. */
export interface ChangePlan {
  readonly batch: readonly KeyValueChange[];
  /** To be called in this order once the batch is durable. */
  readonly steps: readonly (() => void)[];
}

/** Others have their turn after so many bytes of properties. */
const TURN_BYTES = 512 * 1024;
/** Larger properties are split into members first: most of their bytes may not be indexed. */
const PARSED_WHOLE_BYTES_MAX = 2048;
const PUT_SECONDS_LATER = 1;

/** By name, times included. */
export type PropertyIndexes = ReadonlyMap<string, PropertyIndex>;

export async function planChanges(
  store: IndexStore,
  properties: PropertyIndexes,
  changes: readonly IndexedChange[],
): Promise<ChangePlan> {
  const drafter = new Drafter(store.place, properties);
  let bytes = 0;
  for (const change of changes) {
    drafter.change(change);
    bytes += (change.before?.propertiesJson.length ?? 0) + (change.after?.propertiesJson.length ?? 0);
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await setImmediate();
  }
  const needed = drafter.drafts.flatMap((draft) => draft.needs());
  if (needed.length > 0) {
    const values = await store.reader.getMany(needed.flatMap((records) => records.keys));
    let taken = 0;
    for (const { keys, take } of needed) {
      take(values.slice(taken, taken + keys.length));
      taken += keys.length;
    }
  }
  const batch: KeyValueChange[] = [];
  const steps: (() => void)[] = [];
  for (const draft of drafter.drafts) draft.finish(batch, steps);
  return { batch, steps };
}

class Drafter {
  readonly #place: IndexPlace;
  readonly #properties: PropertyIndexes;
  readonly #drafts = new Map<PropertyIndex, PropertyDraft>();

  constructor(place: IndexPlace, properties: PropertyIndexes) {
    this.#place = place;
    this.#properties = properties;
  }

  get drafts(): readonly PropertyDraft[] {
    return [...this.#drafts.values()];
  }

  change({ document, before, after }: IndexedChange): void {
    this.#time(CREATION_TIME_PROPERTY, document, before?.creationTimeUnix, after?.creationTimeUnix);
    this.#time(LAST_UPDATE_TIME_PROPERTY, document, before?.lastUpdateTimeUnix, after?.lastUpdateTimeUnix);
    if (before !== undefined && after !== undefined) this.#difference(document, before, after);
    else if (after !== undefined) this.#all(after, (index, value) => this.#change(index, document, undefined, value));
    else if (before !== undefined) this.#all(before, (index, value) => this.#change(index, document, value, undefined));
  }

  #time(name: string, document: number, before: number | undefined, after: number | undefined): void {
    const index = this.#index(name);
    if (before === after || index.numbers === undefined) return;
    this.#draft(index).setColumn(index.numbers, document, before, after);
  }

  #all(state: IndexedState, visit: (index: PropertyIndex, value: Json) => void): void {
    const { propertiesJson } = state;
    if (propertiesJson.length > PARSED_WHOLE_BYTES_MAX) {
      for (const [name, member] of jsonMembers(propertiesJson)) {
        const index = this.#index(name);
        if (index.property.kind !== "none") visit(index, parsed(member));
      }
      return;
    }
    for (const [name, value] of Object.entries(parsed(propertiesJson) as JsonObject)) visit(this.#index(name), value);
  }

  /** Members whose bytes are the same are left alone. */
  #difference(document: number, before: IndexedState, after: IndexedState): void {
    const old = jsonMembers(before.propertiesJson);
    for (const [name, member] of jsonMembers(after.propertiesJson)) {
      const index = this.#index(name);
      const oldMember = old.get(name);
      old.delete(name);
      if (index.property.kind === "none") continue;
      if (oldMember !== undefined && Buffer.compare(oldMember, member) === 0) continue;
      this.#change(index, document, oldMember === undefined ? undefined : parsed(oldMember), parsed(member));
    }
    for (const [name, member] of old) this.#change(this.#index(name), document, parsed(member), undefined);
  }

  #change(index: PropertyIndex, document: number, before: Json | undefined, after: Json | undefined): void {
    const { property } = index;
    if (property.kind === "none") return;
    try {
      this.#draft(index).change(document, analyseValue(property, before), analyseValue(property, after));
    } catch (error) {
      throw damaged(
        this.#place,
        property.name,
        `a stored value cannot be read: ${ShoalError.from(error).message}`,
        error,
      );
    }
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
      { retryAfterSeconds: PUT_SECONDS_LATER },
    );
  }
}

function parsed(json: Uint8Array): Json {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString()) as Json;
}
