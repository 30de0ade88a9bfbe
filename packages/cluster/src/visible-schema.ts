import type { ClassRights } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { SchemaView } from "./schema-view.js";

/** What decides whether somebody sees a class. */
export type Sight = "mayKnow" | "mayRead";

const seen = new WeakMap<SchemaSnapshot, WeakMap<ClassRights, { [Kind in Sight]?: SchemaSnapshot }>>();
const shared = new WeakMap<SchemaSnapshot, Map<string, SchemaSnapshot>>();

/** So many sets of classes of one schema are shared among all who see the same ones. */
const SHARED_MAX = 256;

/**
 * The schema without the classes that somebody does not see; the same object when he sees all, and for all who see the same
 * classes. To everything that is given it, the others are not there.
 */
export function visibleSnapshot(snapshot: SchemaSnapshot, rights: ClassRights, sight: Sight): SchemaSnapshot {
  let ofSnapshot = seen.get(snapshot);
  if (ofSnapshot === undefined) {
    ofSnapshot = new WeakMap();
    seen.set(snapshot, ofSnapshot);
  }
  let known = ofSnapshot.get(rights);
  if (known === undefined) {
    known = {};
    ofSnapshot.set(rights, known);
  }
  known[sight] ??= without(snapshot, (className) => rights[sight](className));
  return known[sight];
}

function without(snapshot: SchemaSnapshot, isSeen: (className: string) => boolean): SchemaSnapshot {
  const classes = snapshot.classes.filter(({ definition }) => isSeen(definition.class));
  if (classes.length === snapshot.classes.length) return snapshot;
  const key = classes.map(({ definition }) => definition.class).join();
  let sets = shared.get(snapshot);
  if (sets === undefined) {
    sets = new Map();
    shared.set(snapshot, sets);
  }
  const same = sets.get(key);
  if (same !== undefined) return same;
  const visible: SchemaSnapshot = { ...snapshot, classes };
  if (sets.size < SHARED_MAX) sets.set(key, visible);
  return visible;
}

/** A view of the schema as somebody sees it. */
class VisibleSchema implements SchemaView {
  readonly #view: SchemaView;
  readonly #rights: ClassRights;
  readonly #sight: Sight;

  constructor(view: SchemaView, rights: ClassRights, sight: Sight) {
    this.#view = view;
    this.#rights = rights;
    this.#sight = sight;
  }

  get snapshot(): SchemaSnapshot {
    return visibleSnapshot(this.#view.snapshot, this.#rights, this.#sight);
  }

  get isLost(): boolean {
    return this.#view.isLost === true;
  }

  refresh(context: RequestContext): Promise<void> {
    return this.#view.refresh(context);
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.#rights[this.#sight](className) ? this.#view.classRecord(className) : undefined;
  }

  onChange(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    return this.#view.onChange(() => listener(this.snapshot));
  }
}

/** `view` as whoever asks sees it: the same object where there are no rights to be looked at. */
export function schemaSeenBy(view: SchemaView, { rights }: Pick<RequestContext, "rights">, sight: Sight): SchemaView {
  return rights === undefined ? view : new VisibleSchema(view, rights, sight);
}
