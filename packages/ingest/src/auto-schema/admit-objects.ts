import type { SchemaView } from "@shoal/cluster";
import {
  type ClassDefinition,
  isUncheckedObject,
  normaliseClassName,
  type ObjectId,
  parseShortBeacon,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type CheckedObject, OBJECT_PREFIX, parseBodyId } from "../check-object.js";
import type { IngestParts } from "../ingest-parts.js";
import type { ObjectInput } from "../ingest-service.js";
import { IngestYielder } from "../ingest-yielder.js";
import { keptReferences, type StoredPlace } from "../kept-references.js";
import { type Located, locateObjects } from "../locate-objects.js";
import type { AutoSchemaSettings } from "./auto-schema-settings.js";
import { ClassPlan, type ClassPlanParts, checkPlanned, type PlannedObject, type Refusal } from "./class-plan.js";

/** What ordinary checks refused but auto-schema may take: an unseen class, unseen properties, names to be normalised. */
export function concernsAutoSchema({ className, properties }: ObjectInput, { schema }: Pick<IngestParts, "schema">) {
  if (className === undefined || className === "") return false;
  const record = schema.classRecord(className);
  if (record === undefined) return true;
  if (!isUncheckedObject(properties)) return false;
  const names = namesOf(record);
  return Object.keys(properties).some((name) => !names.has(name));
}

/** How often a plan is made again because somebody else has changed the schema in between. */
const ATTEMPTS_MAX = 20;

type Parts = Pick<IngestParts, "limits" | "nowMs" | "profile" | "router" | "schema" | "wholeSchema">;

/**
 * Admits objects that name a class, creating what they need: one schema change for each class that they bring something
 * new for. One outcome an object, in order; an admitted one has its names normalised and is checked completely against
 * the class as it is then. What is refused leaves nothing behind. `lengthOf`: the vector length that other objects
 * of the same request will give to a class.
 */
export async function admitObjects(
  parts: Parts,
  settings: AutoSchemaSettings,
  inputs: readonly ObjectInput[],
  lengthOf: (record: ClassRecord) => number | undefined,
  context: RequestContext,
): Promise<readonly (CheckedObject | Refusal)[]> {
  const lookUp = async (some: readonly ObjectInput[]) => {
    const located = await locateObjects(parts, referenceTargets(some), context);
    return { located, keeps: await keptReferences(parts, lackingPlaces(parts, some, located), context) };
  };
  const { beaconScheme } = parts.profile;
  const isShown = (className: string) => context.rights?.mayKnow(className) !== false;
  const planParts: ClassPlanParts = { settings, scheme: beaconScheme, isShown, ...(await lookUp(inputs)) };
  const places = new Map<string, number[]>();
  for (const [at, { className = "" }] of inputs.entries()) {
    const name = normaliseClassName(className);
    const known = places.get(name);
    if (known === undefined) places.set(name, [at]);
    else known.push(at);
  }
  const outcomes = new Array<CheckedObject | Refusal | undefined>(inputs.length);
  const schema = parts.wholeSchema ?? parts.schema;
  let asked: Promise<SchemaSnapshot> | undefined;
  const shared: SharedParts = {
    ...{ schema, planParts, lookUp, lengthOf, yielder: new IngestYielder(parts, context), context },
    currentOnce: () => {
      asked ??= settings.schemaService.current(context);
      return asked;
    },
  };
  for (const [className, group] of places) {
    if (shared.yielder.isDue) await shared.yielder.next();
    const admission = new ClassAdmission(className, shared);
    const ofClass = group.flatMap((at) => inputs[at] ?? []);
    for (const [i, outcome] of (await admission.admit(ofClass)).entries()) outcomes[group[i] ?? 0] = outcome;
  }
  return outcomes.map((outcome, at) => {
    if (outcome !== undefined) return outcome;
    throw new ShoalError("internal", `auto-schema gave no outcome for object ${at}`);
  });
}

/** `admitObjects` for one object; what is refused fails as a new object does. */
export async function admitObject(
  parts: IngestParts,
  settings: AutoSchemaSettings,
  input: ObjectInput,
  context: RequestContext,
): Promise<CheckedObject> {
  const [outcome] = await admitObjects(parts, settings, [input], () => undefined, context);
  if (outcome === undefined) throw new ShoalError("internal", "auto-schema gave no outcome");
  if (!isRefusal(outcome)) return outcome;
  const { error, fault } = outcome;
  throw fault === "vector" || error.code !== "invalid" ? error : withPrefix(OBJECT_PREFIX, error);
}

/** Everything that objects, whose properties nobody knows yet, seem to refer to: where it is, is asked for at once. */
function referenceTargets(inputs: Iterable<ObjectInput>): ReadonlySet<ObjectId> {
  const targets = new Set<ObjectId>();
  for (const { properties } of inputs) {
    if (!isUncheckedObject(properties)) continue;
    for (const value of Object.values(properties)) {
      if (!Array.isArray(value)) continue;
      for (const item of value) {
        const id = isUncheckedObject(item) ? targetOf(item.beacon) : undefined;
        if (id !== undefined) targets.add(id);
      }
    }
  }
  return targets;
}

function targetOf(beacon: unknown): ObjectId | undefined {
  if (typeof beacon !== "string") return undefined;
  try {
    return parseShortBeacon(beacon).id;
  } catch {
    return undefined;
  }
}

/** The objects that may be there already and refer to something that is not there, as far as that can be told at a glance. */
function lackingPlaces(
  { schema }: Pick<Parts, "schema">,
  inputs: readonly ObjectInput[],
  located: Located,
): readonly StoredPlace[] {
  const missing = new Set(Array.from(located).flatMap(([id, { holding }]) => (holding.length === 0 ? [id] : [])));
  if (missing.size === 0) return [];
  return inputs.flatMap((input) => {
    const id = parseBodyId(input.id);
    const record = schema.classRecord(normaliseClassName(input.className ?? ""));
    if (id === undefined || record === undefined) return [];
    return Array.from(referenceTargets([input])).some((target) => missing.has(target)) ? [{ record, id }] : [];
  });
}

/** What is the same for all classes of a request. */
interface SharedParts {
  readonly schema: SchemaView;
  readonly planParts: ClassPlanParts;
  readonly lookUp: (inputs: readonly ObjectInput[]) => Promise<Pick<ClassPlanParts, "located" | "keeps">>;
  /** The schema as the coordinator knows it, asked for once a request. */
  readonly currentOnce: () => Promise<SchemaSnapshot>;
  readonly lengthOf: (record: ClassRecord) => number | undefined;
  readonly yielder: IngestYielder;
  readonly context: RequestContext;
}

/** The objects of one class. */
class ClassAdmission {
  #planParts: ClassPlanParts;

  constructor(
    private readonly className: string,
    private readonly shared: SharedParts,
  ) {
    this.#planParts = shared.planParts;
  }

  async admit(inputs: readonly ObjectInput[]): Promise<readonly (CheckedObject | Refusal)[]> {
    let snapshot = this.shared.schema.snapshot;
    for (let attempt = 1; ; attempt++) {
      const planned = await this.#plan(inputs, snapshot);
      if (planned instanceof ShoalError) return inputs.map(() => ({ fault: "class", error: planned }));
      const { plan, objects } = planned;
      if (objects.every(isRefusal)) return objects;
      if (!plan.isChange) return this.#checked(objects, plan.base);
      const changed = await plan.carryOut(this.shared.context).catch(ShoalError.from);
      if (!(changed instanceof ShoalError)) {
        const { record, made } = changed;
        if (made !== undefined) this.#planParts.settings.onMade?.(made, this.shared.context);
        return this.#checked(objects, record);
      }
      const newer = attempt < ATTEMPTS_MAX ? await this.#newerSchema(changed, snapshot) : undefined;
      if (newer === undefined) {
        if (plan.unknown !== undefined) this.#planParts.settings.onMade?.(plan.unknown, this.shared.context);
        const lacked = changed.code === "forbidden" ? plan.action : undefined;
        return this.#checked(objects, plan.base, { error: changed, lacked });
      }
      snapshot = newer;
      // Classes that objects refer to may have gone, too.
      if (this.#planParts.located.size > 0) {
        this.#planParts = { ...this.#planParts, ...(await this.shared.lookUp(inputs)) };
      }
    }
  }

  /**
   * The planned objects as they fit the class that there is. `failure`: why the plan could not be carried out; those that
   * need it fail with that.
   */
  #checked(
    objects: readonly (PlannedObject | Refusal)[],
    record: ClassRecord | undefined,
    failure?: Omit<Refusal, "fault">,
  ): Promise<readonly (CheckedObject | Refusal)[]> {
    return this.#inSteps(objects, (object) => {
      if (isRefusal(object)) return object;
      const checked = record === undefined ? undefined : checkPlanned(object.input, record, this.#planParts);
      if (failure === undefined && checked !== undefined) return checked;
      if (checked !== undefined && !isRefusal(checked)) return checked;
      return { fault: "class", ...(failure ?? { error: NO_CLASS }) };
    });
  }

  async #plan(
    inputs: readonly ObjectInput[],
    snapshot: SchemaSnapshot,
  ): Promise<{ plan: ClassPlan; objects: readonly (PlannedObject | Refusal)[] } | ShoalError> {
    const known = snapshot.classes.find(({ definition }) => definition.class === this.className);
    let plan: ClassPlan;
    try {
      plan = new ClassPlan(this.#planParts, snapshot, this.className, known && this.shared.lengthOf(known));
    } catch (thrown) {
      return ShoalError.from(thrown);
    }
    return { plan, objects: await this.#inSteps(inputs, (input) => plan.take(input)) };
  }

  /**
   * The schema as it is now, when the change failed because of what the planned one did not have. What is forbidden may be
   * another change by now, or none; that is refused without the coordinator, for any number of classes.
   */
  async #newerSchema({ code }: ShoalError, planned: SchemaSnapshot): Promise<SchemaSnapshot | undefined> {
    if (code !== "conflict" && code !== "notFound" && code !== "invalid" && code !== "forbidden") return undefined;
    const { schemaService } = this.#planParts.settings;
    try {
      const isAsked = code !== "forbidden";
      const newer = await (isAsked ? schemaService.current(this.shared.context) : this.shared.currentOnce());
      return newer.version > planned.version ? newer : undefined;
    } catch {
      return undefined;
    }
  }

  async #inSteps<From, To>(items: readonly From[], work: (item: From) => To): Promise<readonly To[]> {
    const done: To[] = [];
    for (const item of items) {
      done.push(work(item));
      if (this.shared.yielder.isDue) await this.shared.yielder.next();
    }
    return done;
  }
}

export function isRefusal(outcome: CheckedObject | PlannedObject | Refusal): outcome is Refusal {
  return "fault" in outcome;
}

const NO_CLASS = new ShoalError("internal", "a plan without a change has no class");

const nameSets = new WeakMap<ClassDefinition, ReadonlySet<string>>();

function namesOf({ definition }: ClassRecord): ReadonlySet<string> {
  let names = nameSets.get(definition);
  if (names === undefined) {
    names = new Set((definition.properties ?? []).map(({ name }) => name));
    nameSets.set(definition, names);
  }
  return names;
}
