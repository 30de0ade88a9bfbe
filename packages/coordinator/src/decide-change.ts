import { isDeepStrictEqual } from "node:util";
import { CLIENT_PHRASES, ShoalError } from "@shoal/model";
import type { ClassDrop, ClassIncarnation } from "@shoal/rpc";
import { putGoneClass } from "./gone-classes.js";
import type { LedgerChange } from "./ledger.js";
import type { MetaState } from "./meta-store.js";
import {
  type ChangeCaller,
  type OpenChange,
  putOpenChange,
  readOpenChanges,
  removeOpenChanges,
} from "./open-changes.js";
import { dropOf, dropOfClass, putDrop, readDrops } from "./stored-drops.js";
import { removeClass, type StoredSchema } from "./stored-schema.js";

/** What is decided on a state: the result, or what has to happen before there is one. */
export type Verdict<T> = { readonly result: T } | Wait;

export interface Wait {
  /** What is answered when it does not happen in time. */
  readonly why: ShoalError;
  /** It is decided again at every change, and at that moment. */
  readonly untilMs?: number;
}

/**
 * Whether an existing thing (a class, a property) that a caller wants to make is what an earlier request made whose result
 * never arrived: then it is his from now on. Undefined: it is somebody else's, and in his way.
 */
export function decideRepetition<T>(
  open: OpenChange | undefined,
  caller: ChangeCaller | undefined,
  made: T,
  isSame: boolean,
  nowMs: number,
): LedgerChange<Verdict<T>> | undefined {
  if (open === undefined || !isSame) return undefined;
  if (open.id === caller?.id) return { changes: [], result: { result: made } };
  if (open.untilMs > nowMs) return waiting(anotherRequest(open), open.untilMs);
  return { changes: takenOver(open, caller), result: { result: made } };
}

/** The earlier class of that name that is still being dropped. */
export function decideOnDrops(state: MetaState, className: string): LedgerChange<Wait> | undefined {
  const drop = readDrops(state).find((one) => one.className === className);
  return drop && waiting(pendingDrop(drop, `class '${className}' cannot be made yet`));
}

/** Deletes a class: takes it out of the schema, then waits for the nodes that have shards of it. */
export function decideDeletion(
  { className, classId }: ClassIncarnation,
  { classes }: StoredSchema,
  state: MetaState,
  caller: ChangeCaller,
  nowMs: number,
): LedgerChange<Verdict<void>> {
  const stored = classes.get(className);
  const changes = readOpenChanges(state).filter((one) => one.className === className);
  const deletions = changes.filter(({ kind }) => kind === "drop");
  const open =
    deletions.find(({ id }) => id === caller.id) ??
    (stored === undefined ? deletions.find((one) => classId === undefined || one.classId === classId) : undefined) ??
    (stored === undefined ? deletions.at(-1) : undefined);
  if (open === undefined) {
    if (stored === undefined) throw new ShoalError("notFound", CLIENT_PHRASES.classNotFound(className));
    const { record } = stored;
    if (record.classId !== classId) {
      throw new ShoalError("conflict", `class '${className}' is another one than the one to be deleted`);
    }
    const removed = removeOpenChanges(changes.filter((one) => one.classId === classId));
    const opened = putOpenChange(caller, { kind: "drop", className, classId });
    const gone = putGoneClass(className, state, nowMs);
    const why = new ShoalError("unavailable", `class '${className}' is being deleted`);
    return {
      changes: [...removed, removeClass(className), gone, putDrop(dropOfClass(record, state)), opened],
      result: { why },
    };
  }
  if (open.id !== caller.id) {
    if (open.untilMs > nowMs) return waiting(anotherRequest(open), open.untilMs);
    return { changes: takenOver(open, caller), result: { why: anotherRequest(open) } };
  }
  const drop = dropOf(state, open.classId);
  if (drop === undefined) return { changes: [], result: { result: undefined } };
  return waiting(pendingDrop(drop, `class '${className}' is out of the schema, and its deletion is not complete`));
}

function waiting(why: ShoalError, untilMs?: number): LedgerChange<Wait> {
  return { changes: [], result: untilMs === undefined ? { why } : { why, untilMs } };
}

function takenOver(open: OpenChange, caller: ChangeCaller | undefined) {
  const { kind, className, classId, property } = open;
  const subject = { kind, className, classId, ...(property !== undefined && { property }) };
  return [...removeOpenChanges([open]), ...(caller === undefined ? [] : [putOpenChange(caller, subject)])];
}

function anotherRequest({ className }: OpenChange): ShoalError {
  const message = `another request is changing class '${className}' in the same way: ask again`;
  return new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
}

function pendingDrop({ className, holders }: ClassDrop, what: string): ShoalError {
  const nodes = holders.map((name) => `'${name}'`).join(", ");
  const have = holders.length === 1 ? `storage node ${nodes} has` : `storage nodes ${nodes} have`;
  const message =
    `${what}: ${have} not confirmed yet that nothing is written into the deleted class '${className}' any more. It goes on ` +
    "when they can be reached again; one that is gone for good is taken out by 'shoal cluster remove'";
  return new ShoalError("unavailable", message, { retryAfterSeconds: 5 });
}

/** Whether two definitions are the same, however their members are ordered. JSON drops members that are undefined. */
export function isSameDefinition(a: object, b: object): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
