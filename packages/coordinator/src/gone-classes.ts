import type { Json } from "@shoal/model";
import { entriesUnder, type MetaChange, type MetaState } from "./meta-store.js";
import { nextVersion } from "./stored-history.js";

/** Prefix of the keys under which stands when a class of a name was deleted last, by that name. */
const GONE_PREFIX = "gone/";

/** No request is under way for so long. */
const FORGOTTEN_MS = 3_600_000;

interface GoneClass {
  /** The version of the schema that was the first without it. */
  readonly version: number;
  readonly atMs: number;
}

/** Part of the commit on `state` that deletes the class. */
export function putGoneClass(className: string, state: MetaState, atMs: number): MetaChange {
  return { key: GONE_PREFIX + className, value: { version: nextVersion(state), atMs } };
}

/** Whether a class of that name was deleted after `version` of the schema. */
export function isGoneSince(className: string, version: number, { entries }: MetaState): boolean {
  const gone = entries.get(GONE_PREFIX + className);
  return gone !== undefined && readGone(gone).version > version;
}

/** What takes out those that nobody asks about any more. */
export function forgetGoneClasses(state: MetaState, nowMs: number): readonly MetaChange[] {
  const old = [...entriesUnder(GONE_PREFIX, state)].filter(([, value]) => readGone(value).atMs < nowMs - FORGOTTEN_MS);
  return old.map(([className]) => ({ key: GONE_PREFIX + className, value: undefined }));
}

function readGone(value: Json): GoneClass {
  return value as unknown as GoneClass;
}
