import { type ClassRecord, goesOnFrom, type SchemaSnapshot } from "../schema-service.js";
import type { Read } from "./protobuf.js";
import { readRecord, recordJson } from "./record-codec.js";
import type { SCHEMA_UPDATE } from "./services.js";

type SchemaUpdate = Read<typeof SCHEMA_UPDATE>;

/** How to come from one schema to another; from nothing when the two have no common history. */
export function updateBetween(before: SchemaSnapshot | undefined, after: SchemaSnapshot): SchemaUpdate {
  const position = { historyId: after.historyId, version: after.version };
  const { clusterId = "", drops = [], former = [] } = after;
  const recordsJson = after.classes.map(recordJson);
  const whole = { position, whole: true, removedClassIds: [], recordsJson, former, clusterId, drops };
  if (before === undefined || !goesOnFrom(after, before)) return whole;
  const known = new Map(before.classes.map((record) => [record.classId, record]));
  const left = new Set(after.classes.map(({ classId }) => classId));
  const changed = after.classes.filter((record) => !isSame(known.get(record.classId), record));
  const update: Change = { removed: before.classes.filter(({ classId }) => !left.has(classId)), changed };
  // Classes change their order only by a fault; then everything is said again.
  const order = changedClasses(before.classes, new Set(update.removed.map(({ classId }) => classId)), changed);
  if (order.some(({ classId }, at) => classId !== after.classes[at]?.classId)) return whole;
  return {
    position,
    whole: false,
    removedClassIds: update.removed.map(({ classId }) => classId),
    recordsJson: changed.map(recordJson),
    former: before.historyId === after.historyId ? [] : former,
    clusterId,
    drops,
  };
}

/** The schema after an update. Fails with `internal` when it does not begin at `before`. */
export function applyUpdate(before: SchemaSnapshot | undefined, update: SchemaUpdate): SchemaSnapshot {
  const { historyId = "", version = 0 } = update.position ?? {};
  const records = update.recordsJson.map(readRecord);
  const classes = changedClasses(update.whole ? [] : (before?.classes ?? []), new Set(update.removedClassIds), records);
  const former = update.whole || before?.historyId !== historyId ? update.former : (before.former ?? []);
  const { clusterId, drops } = update;
  return {
    historyId,
    version,
    ...(clusterId !== "" && { clusterId }),
    classes,
    ...(drops.length > 0 && { drops }),
    ...(former.length > 0 && { former }),
  };
}

interface Change {
  readonly removed: readonly ClassRecord[];
  readonly changed: readonly ClassRecord[];
}

function changedClasses(
  before: readonly ClassRecord[],
  removed: ReadonlySet<string>,
  changed: readonly ClassRecord[],
): readonly ClassRecord[] {
  const classes = new Map(before.map((record) => [record.classId, record]));
  for (const classId of removed) classes.delete(classId);
  for (const record of changed) classes.set(record.classId, record);
  return [...classes.values()];
}

function isSame(before: ClassRecord | undefined, after: ClassRecord): boolean {
  return before === after || (before !== undefined && recordJson(before).equals(recordJson(after)));
}
