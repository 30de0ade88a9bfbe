import { isDeepStrictEqual } from "node:util";
import type { ClassRecord, EnsuredClass, EnsuredProperties, SchemaSnapshot } from "@shoal/rpc";
import { expect } from "vitest";
import type { MetaState } from "../meta-store.js";
import type { Recorded, RecordedHistory } from "./record-history.js";
import { applyOperation, EMPTY_MODEL, type Model, modelOf } from "./schema-model.js";

/**
 * Verifies that the commits are one line of operations, each as the model does it on what was before, and that every result
 * fits that line: `states` are all of them, from revision 1 on.
 */
export function verifyHistory(
  { operations, watched }: RecordedHistory,
  states: readonly MetaState[],
  hint: string,
): void {
  expect(
    states.map(({ revision }) => revision),
    hint,
  ).toEqual(states.map((_, at) => at + 1));
  const models = [EMPTY_MODEL, ...states.map(modelOf)];
  const committed = matchCommits(operations, models, hint);
  verifyResults(operations, models, committed, hint);
  verifyRealTime(operations, committed, hint);
  for (const snapshots of watched) verifyWatched(snapshots, models, hint);
}

/** The revision of each operation that made a commit. */
function matchCommits(
  operations: readonly Recorded[],
  models: readonly Model[],
  hint: string,
): ReadonlyMap<number, number> {
  const committed = new Map<number, number>();
  const byNumber = new Map(operations.map((one) => [String(one.number), one]));
  for (const [at, after] of models.entries()) {
    const before = models[at - 1];
    // What a deletion leaves behind is confirmed and settled in commits of their own.
    if (before === undefined || isDeepStrictEqual(before, after)) continue;
    const { mark, className } = difference(before, after);
    const recorded = mark === undefined ? deletion(operations, committed, className) : byNumber.get(mark);
    const where = `${hint}, revision ${at}`;
    if (recorded === undefined) throw new Error(`${where}: nobody made this change`);
    expect(committed.has(recorded.number), where).toBe(false);
    committed.set(recorded.number, at);
    const classId = after.classes.get(className)?.classId ?? "";
    expect(after, where).toEqual(applyOperation(before, at, recorded.number, recorded.operation, classId));
  }
  return committed;
}

/** What tells who made a change: his mark, or the class that is gone. */
function difference(before: Model, after: Model): { readonly mark?: string; readonly className: string } {
  for (const [name, mark] of after.nodes) if (before.nodes.get(name) !== mark) return { mark, className: "" };
  for (const className of before.classes.keys()) if (!after.classes.has(className)) return { className };
  for (const [className, now] of after.classes) {
    const was = before.classes.get(className);
    if (was?.description !== now.description) return { mark: now.description, className };
    if (was.dimensions !== now.dimensions) return { mark: String(now.dimensions), className };
    const added = now.properties[was.properties.length]?.description;
    if (added !== undefined) return { mark: added, className };
  }
  throw new Error("a commit has changed nothing");
}

/** Who deleted the class: of those who have not deleted another one, the first. Deletions of a class do not overlap. */
function deletion(
  operations: readonly Recorded[],
  committed: ReadonlyMap<number, number>,
  className: string,
): Recorded | undefined {
  return operations
    .filter(({ operation, outcome, number }) => {
      const isMeant = operation.kind === "delete" && operation.className === className;
      return isMeant && outcome.type !== "refused" && !committed.has(number);
    })
    .sort((a, b) => a.invoked - b.invoked)[0];
}

function verifyResults(
  operations: readonly Recorded[],
  models: readonly Model[],
  committed: ReadonlyMap<number, number>,
  hint: string,
): void {
  for (const recorded of operations) {
    const { number, operation, outcome } = recorded;
    const revision = committed.get(number);
    const where = `${hint}, operation ${number} ${JSON.stringify({ operation, outcome })}`;
    if (outcome.type === "unknown") continue;
    if (revision !== undefined) {
      expect(outcome.type, where).toBe("done");
      expect(isResultOf(recorded, models[revision] ?? EMPTY_MODEL), where).toBe(true);
      expect(saysChange(recorded, models[revision - 1] ?? EMPTY_MODEL), where).toBe(true);
      continue;
    }
    // It changed nothing: there was a moment while it was under way at which that was right.
    const [from, to] = possible(recorded, operations, committed, models.length - 1);
    const fits = models.slice(from, to + 1).some((model) => {
      const result = applyOperation(model, 0, number, operation, "");
      if (outcome.type === "refused") return result === outcome.code;
      return result === model && isResultOf(recorded, model) && saysChange(recorded, undefined);
    });
    expect(fits, `${where} between ${from} and ${to}`).toBe(true);
  }
}

/** The revisions at which an operation may have looked: after what was answered before it, before what was asked after it. */
function possible(
  { invoked, returned }: Recorded,
  operations: readonly Recorded[],
  committed: ReadonlyMap<number, number>,
  last: number,
): readonly [number, number] {
  let [from, to] = [0, last];
  for (const other of operations) {
    const revision = committed.get(other.number);
    if (revision === undefined) continue;
    if (other.outcome.type === "done" && other.returned < invoked) from = Math.max(from, revision);
    if (other.invoked > returned) to = Math.min(to, revision - 1);
  }
  return [from, to];
}

function isResultOf({ operation, outcome }: Recorded, model: Model): boolean {
  if (outcome.type !== "done") return false;
  const { result } = outcome;
  if (operation.kind === "read") return isSnapshotOf(result as SchemaSnapshot, model);
  if (operation.kind === "delete" || operation.kind === "register") return true;
  const known = model.classes.get(operation.className);
  if (operation.kind === "fixDimensions") return result === known?.dimensions;
  return known !== undefined && isRecordOf(recordIn(result as ClassRecord | EnsuredClass), model);
}

function recordIn(result: ClassRecord | EnsuredClass | EnsuredProperties): ClassRecord {
  return "record" in result ? result.record : result;
}

/** Whether a result that says what its operation has changed is right. `before`: what it changed, if it did. */
function saysChange({ operation, outcome }: Recorded, before: Model | undefined): boolean {
  if (outcome.type !== "done") return true;
  if (operation.kind === "ensure") return (outcome.result as EnsuredClass).isMade === (before !== undefined);
  if (operation.kind !== "ensureProperties") return true;
  const { added } = outcome.result as EnsuredProperties;
  if (before === undefined) return added.length === 0;
  const known = before.classes.get(operation.className)?.properties.map(({ name }) => name) ?? [];
  const asked = new Set(operation.properties.map(({ name }) => name));
  return isDeepStrictEqual([...added].sort(), [...asked].filter((name) => !known.includes(name)).sort());
}

function isRecordOf({ classId, definition, dimensions }: ClassRecord, model: Model): boolean {
  const known = model.classes.get(definition.class);
  const shown = [known?.classId, known?.description, known?.properties, known?.dimensions];
  return JSON.stringify([classId, definition.description, definition.properties, dimensions]) === JSON.stringify(shown);
}

function isSnapshotOf({ version, classes }: SchemaSnapshot, model: Model): boolean {
  const names = [...model.classes].sort(([, a], [, b]) => a.order - b.order).map(([name]) => name);
  const areSame = classes.every((record, at) => record.definition.class === names[at] && isRecordOf(record, model));
  return version === model.version && classes.length === names.length && areSame;
}

/** What was answered before another was asked stands before it in the line. */
function verifyRealTime(operations: readonly Recorded[], committed: ReadonlyMap<number, number>, hint: string): void {
  const inOrder = operations
    .filter(({ number }) => committed.has(number))
    .sort((a, b) => (committed.get(a.number) ?? 0) - (committed.get(b.number) ?? 0));
  let firstReturned = Number.POSITIVE_INFINITY;
  for (const { invoked, returned, outcome, number } of inOrder.reverse()) {
    expect(invoked, `${hint}, operation ${number}`).toBeLessThan(firstReturned);
    if (outcome.type === "done") firstReturned = Math.min(firstReturned, returned);
  }
}

/** Versions only grow, each is what it was in the line, and a class that has not changed is the same object. */
function verifyWatched(snapshots: readonly SchemaSnapshot[], models: readonly Model[], hint: string): void {
  const byVersion = new Map(models.toReversed().map((model) => [model.version, model]));
  let before: SchemaSnapshot | undefined;
  for (const snapshot of snapshots) {
    const model = byVersion.get(snapshot.version);
    expect(model !== undefined && isSnapshotOf(snapshot, model), `${hint}, watched ${snapshot.version}`).toBe(true);
    expect(snapshot.version, hint).toBeGreaterThan(before?.version ?? -1);
    for (const record of snapshot.classes) {
      const was = before?.classes.find(({ classId }) => classId === record.classId);
      if (was !== undefined && JSON.stringify(was) === JSON.stringify(record)) expect(record, hint).toBe(was);
    }
    before = snapshot;
  }
}
