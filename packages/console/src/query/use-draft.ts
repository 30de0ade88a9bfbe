import { useEffect, useRef, useState } from "preact/hooks";
import type { SchemaState } from "../api/schema-source.js";
import { type SharedQuery, writeRoute } from "../route.js";
import { sampleQuery } from "./sample-query.js";

const KEY = "shoal.console.draft";
const DRAFT_CHARS_MAX = 1_000_000;

export interface DraftOptions {
  readonly storage: Storage;
  readonly schema: SchemaState;
  /** What came with the address; it replaces what was being written. */
  readonly shared: SharedQuery | undefined;
  readonly onChange: () => void;
}

/** What is being written; the browser keeps it for the next visit. */
export function useDraft({ storage, schema, shared, onChange }: DraftOptions) {
  const [shown, setShown] = useState(() => shared ?? readDraft(storage));
  /** Grows whenever the editors have to take over `shown`. */
  const [revision, setRevision] = useState(0);
  /** As it is now, also between two renderings. */
  const latest = useRef(shown);
  /** Somebody has written; an editor that he has emptied stays empty. */
  const isTouched = useRef(false);

  const change = (changed: Partial<SharedQuery>): void => {
    latest.current = { ...latest.current, ...changed };
    setShown(latest.current);
    writeDraft(storage, latest.current);
    onChange();
  };
  /** What was typed into an editor. */
  const type = (typed: Partial<SharedQuery>): void => {
    if (typed.query !== undefined) isTouched.current = true;
    change(typed);
  };
  /** What comes from elsewhere than the editors. */
  const write = (next: SharedQuery): void => {
    change(next);
    setRevision((before) => before + 1);
  };

  useEffect(() => {
    if (shared === undefined) return;
    write(shared);
    window.history.replaceState(null, "", writeRoute({ view: "query" }));
  }, [shared]);

  // Nobody begins before an empty page when there is something to ask for.
  useEffect(() => {
    const first = schema.kind === "ready" ? schema.classes[0] : undefined;
    if (first !== undefined && latest.current.query === "" && !isTouched.current)
      write({ ...latest.current, query: sampleQuery(first) });
  }, [schema]);

  return { shown, revision, latest: () => latest.current, type, write };
}

/** What was being written when the page was left. */
function readDraft(storage: Storage): SharedQuery {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "null") as Partial<SharedQuery> | null;
    if (typeof kept?.query === "string" && typeof kept.variables === "string") {
      return { query: kept.query, variables: kept.variables };
    }
  } catch {
    // Somebody else's text under our name.
  }
  return { query: "", variables: "" };
}

/** Keeps it for the next visit; what a browser has no room for is not kept. */
function writeDraft(storage: Storage, { query, variables }: SharedQuery): void {
  try {
    if (query.length + variables.length > DRAFT_CHARS_MAX) storage.removeItem(KEY);
    else storage.setItem(KEY, JSON.stringify({ query, variables }));
  } catch {
    // No room.
  }
}
