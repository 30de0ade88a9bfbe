import type { RowFields, StoredObject } from "@shoal/model";
import { nextStep, type WorkBounds } from "@shoal/runtime";
import type { FoundObject, RowReader } from "./read-rows.js";
import type { RowView } from "./row.js";

/** Rows that are read and taken apart in one step, so that a long page holds up nobody. */
const STEP_ROWS = 64;

/** The same in bytes, as far as the sizes of the rows are known. */
const STEP_BYTES = 32 * 1024 * 1024;

/** A part of a row that is worth a copy: else it would keep all of the row in memory. */
const SPARE_BYTES = 4 * 1024;

/** What parsed JSON takes for each byte of its text. */
const PARSED_FACTOR = 4;

export interface ObjectReading {
  readonly className: string;
  readonly fields: RowFields;
  readonly bounds: WorkBounds;
  /** Called for each row that is there, with the place of its object. */
  readonly onRow?: (at: number, row: RowView) => void;
}

/** One result an object, in order; undefined when it has been deleted since. In steps, as its bounds allow. */
export async function readObjects(
  rows: RowReader,
  objects: readonly FoundObject[],
  reading: ObjectReading,
): Promise<readonly (StoredObject | undefined)[]> {
  const found: (StoredObject | undefined)[] = [];
  for (let from = 0; from < objects.length; ) {
    if (from > 0) await nextStep(reading.bounds);
    const end = endOfStep(rows, objects, from);
    await readStep(rows, from === 0 && end === objects.length ? objects : objects.slice(from, end), reading, found);
    from = end;
  }
  return found;
}

/** What `rowBytes` counted for an object that `readObjects` gave. */
export function heldBytes(object: StoredObject, extrasBytes = 0): number {
  return object.propertiesJson.length + (object.vector?.byteLength ?? 0) + extrasBytes * PARSED_FACTOR;
}

function endOfStep(rows: RowReader, objects: readonly FoundObject[], from: number): number {
  const last = Math.min(objects.length, from + STEP_ROWS);
  let bytes = 0;
  for (let at = from; at < last; at++) {
    bytes += rows.likelyBytes(objects[at]?.document ?? -1);
    if (bytes > STEP_BYTES) return Math.max(at, from + 1);
  }
  return last;
}

async function readStep(
  rows: RowReader,
  part: readonly FoundObject[],
  { className, fields, bounds, onRow }: ObjectReading,
  found: (StoredObject | undefined)[],
): Promise<void> {
  let reserved = 0;
  const reading = rows.read(part, fields.vector, (bytes, hasWaited) => {
    // Asking for the signal makes it: small reads do not.
    if (hasWaited) bounds.signal?.throwIfAborted();
    // Rows of which no part is kept are gone when they have been looked at.
    if (!fields.properties && !fields.vector && !fields.extras) return;
    bounds.rowBytes?.add(bytes);
    reserved = bytes;
  });
  const read = reading instanceof Promise ? await reading : reading;
  let held = 0;
  for (const [at, { id }] of part.entries()) {
    const row = read[at];
    if (row !== undefined) onRow?.(found.length, row);
    const object = row?.toObject(id, className, fields);
    found.push(row === undefined || object === undefined ? undefined : detached(row, object, fields));
    if (object !== undefined) held += heldBytes(object, fields.extras ? row?.extrasJson?.length : 0);
  }
  bounds.rowBytes?.add(held - reserved);
}

/** The object, without all of its row staying in memory for a small part of it. */
function detached(row: RowView, object: StoredObject, { properties }: RowFields): StoredObject {
  const { propertiesJson } = object;
  if (!properties || row.bytes.length <= propertiesJson.length * 2 + SPARE_BYTES) return object;
  return { ...object, propertiesJson: new Uint8Array(propertiesJson) };
}
