import type { Json } from "@shoal/model";
import { entriesUnder, type MetaChange, type MetaState } from "./meta-store.js";

/**
 * Prefix of the keys of changes that are made and not settled, by the id of the change: their callers may never have
 * had the result.
 */
const CHANGE_PREFIX = "change/";

/** Whoever repeats a request after so long means another change. */
const FORGOTTEN_MS = 3_600_000;

/** The longest that a caller waits for his result, should his deadline be later. */
const WAITED_MS_MAX = 60_000;

/** What was made. */
export interface ChangeSubject {
  readonly kind: "class" | "property" | "properties" | "drop";
  readonly className: string;
  readonly classId: string;
  /** Of the kind `property`. */
  readonly property?: string;
  /** Of the kind `properties`: several that one change has added. */
  readonly properties?: readonly string[];
}

/** A change that is made and whose caller may not have the result. */
export interface OpenChange extends ChangeSubject {
  readonly id: string;
  /** Until then, in milliseconds since 1970, its caller may still wait for the result, and settle it. */
  readonly untilMs: number;
}

/** The id of a change, and until when its caller waits. */
export interface ChangeCaller {
  readonly id: string;
  readonly untilMs: number;
}

export function changeCaller(id: string, deadline: number, nowMs: number): ChangeCaller {
  return { id, untilMs: Math.min(deadline, nowMs + WAITED_MS_MAX) };
}

export function putOpenChange({ id, untilMs }: ChangeCaller, subject: ChangeSubject): MetaChange {
  const { kind, className, classId, property, properties } = subject;
  const value = {
    ...{ kind, className, classId },
    ...(property !== undefined && { property }),
    ...(properties !== undefined && { properties }),
    untilMs,
  };
  return { key: CHANGE_PREFIX + id, value: value as unknown as Json };
}

/** What takes them out. */
export function removeOpenChanges(changes: Iterable<Pick<OpenChange, "id">>): readonly MetaChange[] {
  return Array.from(changes, ({ id }) => ({ key: CHANGE_PREFIX + id, value: undefined }));
}

export function readOpenChanges(state: MetaState): readonly OpenChange[] {
  return Array.from(entriesUnder(CHANGE_PREFIX, state), ([id, value]) => {
    return { id, ...(value as unknown as Omit<OpenChange, "id">) };
  });
}

/** Of those, which nobody will ask for again. */
export function forgotten(changes: readonly OpenChange[], nowMs: number): readonly OpenChange[] {
  return changes.filter(({ untilMs }) => untilMs < nowMs - FORGOTTEN_MS);
}
