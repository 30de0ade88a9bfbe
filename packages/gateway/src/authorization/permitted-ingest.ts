import {
  type BatchOutcome,
  type IngestService,
  type ObjectInput,
  parseBodyId,
  type ReferenceInput,
  type ReferenceOutcome,
} from "@shoal/ingest";
import { type ClassRights, type DataAction, normaliseClassName, parseLongBeacon, ShoalError } from "@shoal/model";
import { type RequestContext, Yielder } from "@shoal/runtime";
import { requireRights } from "./permitted-queries.js";

type Arguments<Name extends keyof IngestService> = Parameters<IngestService[Name]>;

/**
 * Writes where roles are on. The class that an object names decides, whether it is there or not, before anything is looked at; of
 * a batch each item by itself. Where only an id is given, ingest looks when it knows the class.
 */
export class PermittedIngest implements IngestService {
  constructor(
    private readonly inner: IngestService,
    /** An id for an object that has none and is not stored. */
    private readonly newId: () => string,
  ) {}

  async createObject(...[input, context]: Arguments<"createObject">) {
    requireFor(input, ["create_data"], requireRights(context));
    return this.inner.createObject(input, context);
  }

  async replaceObject(...[id, input, context]: Arguments<"replaceObject">) {
    requireFor(input, ["update_data"], requireRights(context));
    return this.inner.replaceObject(id, input, context);
  }

  async mergeObject(...[id, input, context]: Arguments<"mergeObject">) {
    requireFor(input, ["update_data"], requireRights(context));
    return this.inner.mergeObject(id, input, context);
  }

  async deleteObject(...[id, context]: Arguments<"deleteObject">) {
    requireRights(context);
    return this.inner.deleteObject(id, context);
  }

  async validateObject(...[input, context]: Arguments<"validateObject">) {
    requireFor(input, ["read_data"], requireRights(context));
    return this.inner.validateObject(input, context);
  }

  /** A batch replaces what is there, so that both must be allowed. */
  async importObjects(inputs: readonly (ObjectInput | undefined)[], context: RequestContext) {
    const rights = requireRights(context);
    const refused = new Map<number, BatchOutcome>();
    const refusals = new ClassRefusals(["create_data", "update_data"], rights, context);
    for (const [at, input] of inputs.entries()) {
      if (refusals.yielder.isDue) await refusals.yielder.next();
      const refusal = refusals.of(input?.className);
      if (input === undefined || refusal === undefined) continue;
      refused.set(at, { error: refusal, id: parseBodyId(input.id) ?? this.newId(), input });
    }
    if (refused.size > 0) for (const input of inputs) parseBodyId(input?.id);
    return this.#others(inputs, refused, (others) => this.inner.importObjects(others, context));
  }

  async addReference(...[id, property, beacon, context]: Arguments<"addReference">) {
    requireRights(context);
    return this.inner.addReference(id, property, beacon, context);
  }

  async replaceReferences(...[id, property, beacons, context]: Arguments<"replaceReferences">) {
    requireRights(context);
    return this.inner.replaceReferences(id, property, beacons, context);
  }

  async removeReferences(...[id, property, beacons, context]: Arguments<"removeReferences">) {
    requireRights(context);
    return this.inner.removeReferences(id, property, beacons, context);
  }

  async importReferences(inputs: readonly ReferenceInput[], context: RequestContext) {
    const rights = requireRights(context);
    const refused = new Map<number, ReferenceOutcome>();
    const refusals = new ClassRefusals(["update_data"], rights, context);
    for (const [at, { from }] of inputs.entries()) {
      if (refusals.yielder.isDue) await refusals.yielder.next();
      const refusal = refusals.of(sourceClass(from));
      if (refusal !== undefined) refused.set(at, { error: refusal });
    }
    return this.#others(inputs, refused, (others) => this.inner.importReferences(others, context));
  }

  /** The outcomes of what is not refused, with the refusals in their places. */
  async #others<Input, Outcome>(
    inputs: readonly Input[],
    refused: ReadonlyMap<number, Outcome>,
    work: (others: readonly Input[]) => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    if (refused.size === 0) return work(inputs);
    const others = inputs.filter((_, at) => !refused.has(at));
    const outcomes = others.length === 0 ? [] : await work(others);
    let next = 0;
    return inputs.map((_, at) => {
      const outcome = refused.get(at) ?? outcomes[next++];
      if (outcome === undefined) throw new ShoalError("internal", `item ${at} of the batch has no outcome`);
      return outcome;
    });
  }
}

/** An object that names no class is refused by ingest, in its own words. */
function requireFor({ className }: ObjectInput, actions: readonly DataAction[], rights: ClassRights): void {
  if (className === undefined || className === "") return;
  for (const action of actions) rights.require(action, className);
}

/** Items of a batch that are looked at in one step. A class that was not named before takes as long as many. */
const STEP_ITEMS = 1_000;
const CLASS_ITEMS = 500;

interface ClassRefusal {
  readonly action: DataAction;
  readonly error: ShoalError;
}

/** What is refused of a batch, in steps: many items name few classes, and each class is decided once. */
class ClassRefusals {
  readonly yielder: Yielder;
  readonly #byClass = new Map<string, ClassRefusal | undefined>();

  /** All of the actions must be allowed. */
  constructor(
    private readonly actions: readonly DataAction[],
    private readonly rights: ClassRights,
    private readonly context: RequestContext,
  ) {
    this.yielder = new Yielder(STEP_ITEMS, context);
  }

  /** Why an item of the class is refused, which is reported; undefined when it is not, and where there is no class. */
  of(className = ""): ShoalError | undefined {
    this.yielder.count(1);
    if (className === "") return undefined;
    let refusal = this.#byClass.get(className);
    if (refusal === undefined && !this.#byClass.has(className)) {
      this.yielder.count(CLASS_ITEMS);
      refusal = this.#decided(className);
      this.#byClass.set(className, refusal);
    }
    if (refusal !== undefined) this.context.observer?.denied(refusal.action, normaliseClassName(className));
    return refusal?.error;
  }

  #decided(className: string): ClassRefusal | undefined {
    const action = this.actions.find((one) => !this.rights.may(one, className));
    if (action === undefined) return undefined;
    try {
      this.rights.require(action, className);
      return undefined;
    } catch (thrown) {
      return { action, error: ShoalError.from(thrown) };
    }
  }
}

/** Undefined where ingest refuses the beacon. */
function sourceClass(from: string): string | undefined {
  try {
    return parseLongBeacon(from).className;
  } catch {
    return undefined;
  }
}
