import { firstHolder } from "@shoal/cluster";
import {
  type BeaconScheme,
  type ClassAction,
  type ClassDefinition,
  checkClassCount,
  checkPropertyCount,
  checkPropertyName,
  closeName,
  extendClass,
  type IsShown,
  isUncheckedObject,
  missingTarget,
  normalisePropertyName,
  type PropertyDefinition,
  parseClass,
  parseReferences,
  ShoalError,
  targetsOfReferences,
} from "@shoal/model";
import { type ClassRecord, deliveryOf, type SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type CheckedObject, checkContent, checkVector, parseBodyId } from "../check-object.js";
import type { ObjectInput } from "../ingest-service.js";
import type { Keeps } from "../kept-references.js";
import { holdersOf, type Located, targetFault } from "../locate-objects.js";
import type { AutoSchemaSettings, MadeByAutoSchema } from "./auto-schema-settings.js";
import { inferDataType } from "./infer-data-type.js";

const CLASS_DESCRIPTION = "Auto generated class";
const PROPERTY_DESCRIPTION = "Auto generated property";

/** After these nobody knows whether a change was made. */
const UNKNOWN: ReadonlySet<ShoalError["code"]> = new Set(["unavailable", "deadlineExceeded", "internal"]);

/** Why an object is not taken: its class cannot be what it would have to be, or its content or vector is at fault. */
export interface Refusal {
  readonly fault: "class" | "content" | "vector";
  readonly error: ShoalError;
  /** The right to its class that whoever asks lacks. */
  readonly lacked?: ClassAction | undefined;
}

/** An object that fits the class as planned; its names are normalised. */
export interface PlannedObject {
  readonly input: ObjectInput;
  readonly checked: CheckedObject;
}

/** What became of a plan. */
export interface CarriedOut {
  readonly record: ClassRecord;
  /** What this request has made of it; undefined when others have made all of it meanwhile. */
  readonly made: MadeByAutoSchema | undefined;
}

export interface ClassPlanParts {
  readonly settings: AutoSchemaSettings;
  readonly scheme: BeaconScheme;
  /** Whether errors may name a class that is already there. */
  readonly isShown: IsShown;
  /** Where the targets of all references are. */
  readonly located: Located;
  readonly keeps: Keeps;
}

/**
 * What a class has to become to hold some objects. They are taken one after the other; each is checked completely
 * against the class as the ones before it made it, and one that is refused adds nothing.
 */
export class ClassPlan {
  readonly #schema: readonly ClassDefinition[];
  /** Of the schema. */
  readonly #version: number;
  /** The class as it is; undefined when there is none. */
  readonly base: ClassRecord | undefined;
  #planned: ClassRecord;
  readonly #names: Set<string>;
  readonly #added: PropertyDefinition[] = [];
  #isUnknown = false;

  /**
   * Fails with `invalid` when there cannot be a class of that name. `dimensions`: its vector length, when only the caller
   * knows.
   */
  constructor(
    private readonly parts: ClassPlanParts,
    snapshot: SchemaSnapshot,
    className: string,
    dimensions: number | undefined,
  ) {
    this.#schema = snapshot.classes.map(({ definition }) => definition);
    this.#version = snapshot.version;
    this.base = snapshot.classes.find(({ definition }) => definition.class === className);
    const record = this.base ?? this.#unseen(className);
    this.#planned = { ...record, dimensions: record.dimensions ?? dimensions };
    this.#names = new Set((record.definition.properties ?? []).map(({ name }) => name));
  }

  /** Whether the class has to be changed. */
  get isChange(): boolean {
    return this.base === undefined || this.#added.length > 0;
  }

  /** The right that this takes. */
  get action(): ClassAction {
    return this.base === undefined ? "create_collections" : "update_collections";
  }

  take(given: ObjectInput): PlannedObject | Refusal {
    let input: ObjectInput;
    let definition: ClassDefinition;
    const added: PropertyDefinition[] = [];
    try {
      input = this.#normalised(given, added);
      const { settings, isShown } = this.parts;
      definition = extendClass(this.#planned.definition, added, this.#schema, settings.schemaLimits, isShown);
    } catch (thrown) {
      return { fault: "content", error: ShoalError.from(thrown) };
    }
    const planned = added.length === 0 ? this.#planned : { ...this.#planned, definition };
    const checked = checkPlanned(input, planned, this.parts);
    if ("fault" in checked) return checked;
    this.#planned = { ...planned, dimensions: planned.dimensions ?? checked.vector?.length };
    for (const property of added) {
      this.#names.add(property.name);
      this.#added.push(property);
    }
    return { input, checked };
  }

  /**
   * Makes the class what was planned. Fails with `forbidden` where whoever asks may not change it that way, with `conflict`
   * when a class that was to be made is there meanwhile: changing that is another right. Else as
   * `SchemaService.ensureClass` and `ensureProperties`, and as the class's vectorizer says. Goes on when its client goes away
   * meanwhile: what has been made is to be told.
   */
  async carryOut({ rights, signal, deadline, requestId }: RequestContext): Promise<CarriedOut> {
    const { classSettings, schemaService } = this.parts.settings;
    const className = this.#planned.definition.class;
    rights?.require(this.action, className);
    signal?.throwIfAborted();
    const context: RequestContext = { deadline, requestId };
    if (this.base !== undefined) {
      const { classId } = this.base;
      const { record, added } = await this.#resultOf(
        schemaService.ensureProperties(className, classId, this.#added, context),
      );
      return { record, made: added.length === 0 ? undefined : this.#made(new Set(added)) };
    }
    const settings = classSettings();
    const body = { ...bodyOf(className), properties: this.#added };
    const definition = parseClass(body, this.#schema, settings, undefined, this.parts.isShown);
    if (definition.vectorizer !== "none") await settings.modules.check(definition);
    const planned = { plannedVersion: this.#version };
    const { record, isMade } = await this.#resultOf(schemaService.ensureClass(definition, context, planned));
    if (isMade) return { record, made: this.#made(this.#names) };
    throw new ShoalError("conflict", `another request has made class '${className}' meanwhile: send the object again`);
  }

  /** What was to be made, when the coordinator has not answered whether it was made; else undefined. */
  get unknown(): MadeByAutoSchema | undefined {
    return this.#isUnknown ? { ...this.#made(this.#names), isUnknown: true } : undefined;
  }

  async #resultOf<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } catch (thrown) {
      this.#isUnknown = UNKNOWN.has(ShoalError.from(thrown).code) && deliveryOf(thrown) !== "never";
      throw thrown;
    }
  }

  #made(names: ReadonlySet<string>): MadeByAutoSchema {
    const className = this.#planned.definition.class;
    const classes = this.#schema.map((definition) => definition.class);
    const known = (this.base?.definition.properties ?? []).map(({ name }) => name);
    const added = this.#added.filter(({ name }) => names.has(name));
    const similar = added.flatMap(({ name }) => {
      const close = closeName(name, known);
      return close === undefined ? [] : [[name, close] as const];
    });
    return {
      className,
      isNewClass: this.base === undefined,
      properties: Object.fromEntries(added.map(({ name, dataType }) => [name, dataType.join(", ")])),
      similarClass: this.base === undefined ? closeName(className, classes) : undefined,
      similarProperties: Object.fromEntries(similar),
    };
  }

  /** A class without properties. */
  #unseen(className: string): ClassRecord {
    const settings = this.parts.settings.classSettings();
    checkClassCount(this.#schema.length + 1, this.parts.settings.schemaLimits);
    const definition = parseClass(bodyOf(className), this.#schema, settings, undefined, this.parts.isShown);
    return { definition, sharding: NO_SHARDS, classId: "", dimensions: undefined };
  }

  /** The object with normalised names, without unseen properties that say nothing; the unseen ones go to `added`. */
  #normalised(given: ObjectInput, added: PropertyDefinition[]): ObjectInput {
    const className = this.#planned.definition.class;
    const { propertiesPerClassMax } = this.parts.settings.schemaLimits;
    const { properties } = given;
    if (!isUncheckedObject(properties)) return { ...given, className };
    const kept = new Map<string, unknown>();
    for (const [key, value] of Object.entries(properties)) {
      const name = normalisePropertyName(key);
      const isKnown = this.#names.has(name);
      const property = isKnown ? undefined : this.#inferred(name, value);
      if (!isKnown && property === undefined) continue;
      if (kept.has(name)) {
        throw new ShoalError("invalid", `property '${name}' of class '${className}' is given twice, also as '${key}'`);
      }
      kept.set(name, value);
      if (property === undefined) continue;
      added.push(property);
      checkPropertyCount(className, this.#names.size + added.length, propertiesPerClassMax);
    }
    return { ...given, className, properties: Object.fromEntries(kept) };
  }

  /** The property that a value of an unseen name needs; undefined when the value says nothing. */
  #inferred(name: string, value: unknown): PropertyDefinition | undefined {
    checkPropertyName(name);
    const inference = inferDataType(value, this.parts.settings.types);
    if (inference.kind === "nothing") return undefined;
    const className = this.#planned.definition.class;
    if (inference.kind === "refused") {
      throw new ShoalError(
        "invalid",
        `auto-schema has no data type for property '${name}' of class '${className}': ${inference.reason}`,
      );
    }
    const dataType = inference.kind === "type" ? [inference.dataType] : this.#classesOf(name, value);
    return { dataType, description: PROPERTY_DESCRIPTION, name };
  }

  /** The classes of everything that a list of references points to, each once; of twins the first class (`Holders`). */
  #classesOf(property: string, value: unknown): readonly string[] {
    const place = { className: this.#planned.definition.class, property };
    const ids = targetsOfReferences(parseReferences(value, place, this.parts.scheme));
    const classes = ids.map((id) => {
      const record = firstHolder(holdersOf(this.parts.located, id), {});
      if (record === undefined) throw missingTarget(place, id);
      return record.definition.class;
    });
    return [...new Set(classes)];
  }
}

/** Checks an object with normalised names against a class that has all its properties. */
export function checkPlanned(
  input: ObjectInput,
  record: ClassRecord,
  { scheme, located, keeps }: Pick<ClassPlanParts, "scheme" | "located" | "keeps">,
): CheckedObject | Refusal {
  let fault: Refusal["fault"] = "content";
  try {
    const content = checkContent(input, record, scheme);
    const id = parseBodyId(input.id);
    const missing = targetFault(
      content.targets,
      located,
      (target) => id !== undefined && keeps({ record, id }, target),
    );
    if (missing !== undefined) return { fault, error: missing };
    fault = "vector";
    return { content, vector: checkVector(input, record) };
  } catch (thrown) {
    return { fault, error: ShoalError.from(thrown) };
  }
}

const NO_SHARDS: ClassRecord["sharding"] = { shards: [], virtualShards: [], assignments: [] };

function bodyOf(className: string): object {
  return { class: className, description: CLASS_DESCRIPTION, properties: [] };
}
