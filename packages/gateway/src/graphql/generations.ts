import { visibleSnapshot } from "@shoal/cluster";
import type { ClassDefinition, ClassRights } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { SchemaSnapshot } from "@shoal/rpc";
import { eventLoop } from "@shoal/runtime";
import { ApolloExecution } from "./apollo-execution.js";
import type { CompileParts } from "./plan/compile-fields.js";
import { PlanExecution, type PlanExecutionParts } from "./plan/plan-execution.js";
import { PreparedQueries } from "./prepared/prepared-queries.js";
import { buildGraphQlSchemaInSteps, type GraphQlSchema, type SkippedClass } from "./schema/build-schema.js";

export interface GenerationParts extends PlanExecutionParts {
  readonly modules: EnabledModules;
  readonly onSkippedClass?: (skipped: SkippedClass) => void;
}

/** Everything that is derived from one state of the classes, swapped as a whole. */
export interface Generation {
  readonly version: number;
  readonly definitions: readonly ClassDefinition[];
  /** Undefined when there is no class. */
  readonly built: Built | undefined;
  readonly classes: GraphQlSchema["classes"];
}

export interface Built {
  readonly parts: CompileParts;
  readonly prepared: PreparedQueries;
  readonly apollo: ApolloExecution;
}

/** One generation after the other, of the same classes as they change. */
class Generations {
  #last: Generation | undefined;
  #building: Promise<void> | undefined;

  constructor(private readonly parts: GenerationParts) {}

  /** Of this state or newer; a promise when it has to be built and that takes several steps: to be asked again then. */
  of(snapshot: SchemaSnapshot): Generation | Promise<void> {
    const last = this.#last;
    if (last !== undefined && last.version === snapshot.version) return last;
    if (this.#building !== undefined) return this.#building;
    const definitions = snapshot.classes.map((record) => record.definition);
    // Other things than definitions change the version too, as the dimensions of a class do.
    const isSame =
      last?.definitions.length === definitions.length &&
      last.definitions.every((definition, i) => definition === definitions[i]);
    if (isSame && last !== undefined) return this.#goOnWith({ ...last, version: snapshot.version });
    const { modules, limits } = this.parts;
    const building = buildGraphQlSchemaInSteps(definitions, limits, last?.classes, modules);
    const step = building.next();
    if (step.done === true) return this.#goOnWith(this.#built(snapshot.version, definitions, step.value));
    this.#building = finish(building)
      .then((schema) => void this.#goOnWith(this.#built(snapshot.version, definitions, schema)))
      .finally(() => {
        this.#building = undefined;
      });
    return this.#building;
  }

  #goOnWith(generation: Generation): Generation {
    this.#last = generation;
    return generation;
  }

  #built(version: number, definitions: readonly ClassDefinition[], made: GraphQlSchema): Generation {
    const { limits, wire, onSkippedClass, onFault } = this.parts;
    const { schema, skipped, classes, where } = made;
    for (const each of skipped) onSkippedClass?.(each);
    if (schema === undefined) return { version, definitions, built: undefined, classes };
    const parts: CompileParts = { schema, limits, wire, where };
    const execution = new PlanExecution(this.parts);
    const prepared = new PreparedQueries(limits, execution, onFault);
    const apollo = new ApolloExecution(schema, execution);
    return { version, definitions, built: { parts, prepared, apollo }, classes };
  }
}

/** Parts of the schema that are kept beside the whole, and classes and properties in all of them together: about 5 KB each. */
const PARTS_MAX = 64;
const PART_FIELDS_MAX = 20_000;
/** Of one part. */
const PREPARED_QUERIES_MAX = 100;

/**
 * The generations of the whole schema, and of those parts of it that users with few rights see: a GraphQL schema of its own
 * tells of no other class, neither by introspection nor by what it says of a query. Users who see the same classes share one.
 */
export class SeenGenerations {
  readonly #whole: Generations;
  /** By the names of the classes; the one that was used last is the last. */
  readonly #seen = new Map<string, { readonly generations: Generations; readonly fields: number }>();

  constructor(private readonly parts: GenerationParts) {
    this.#whole = new Generations(parts);
  }

  /** See {@link Generations.of}. */
  of(snapshot: SchemaSnapshot, rights: ClassRights | undefined): Generation | Promise<void> {
    if (rights === undefined) return this.#whole.of(snapshot);
    const visible = visibleSnapshot(snapshot, rights, "mayRead");
    return (visible === snapshot ? this.#whole : this.#generationsOf(visible)).of(visible);
  }

  #generationsOf(visible: SchemaSnapshot): Generations {
    const { names, fields } = sizeOf(visible);
    const known = this.#seen.get(names);
    this.#seen.delete(names);
    const generations = known?.generations ?? this.#partial();
    this.#seen.set(names, { generations, fields });
    if (known?.fields !== fields) this.#makeRoom();
    return generations;
  }

  #partial(): Generations {
    const { limits, onSkippedClass, ...parts } = this.parts;
    const preparedQueriesMax = Math.min(limits.preparedQueriesMax, PREPARED_QUERIES_MAX);
    return new Generations({ ...parts, limits: { ...limits, preparedQueriesMax } });
  }

  #makeRoom(): void {
    let fields = 0;
    for (const one of this.#seen.values()) fields += one.fields;
    for (const [key, one] of this.#seen) {
      if (this.#seen.size === 1 || (this.#seen.size <= PARTS_MAX && fields <= PART_FIELDS_MAX)) return;
      this.#seen.delete(key);
      fields -= one.fields;
    }
  }
}

interface PartSize {
  readonly names: string;
  /** Classes, and their properties. */
  readonly fields: number;
}

const sizes = new WeakMap<SchemaSnapshot, PartSize>();

function sizeOf(visible: SchemaSnapshot): PartSize {
  let size = sizes.get(visible);
  if (size === undefined) {
    const definitions = visible.classes.map(({ definition }) => definition);
    const names = definitions.map((definition) => definition.class).join();
    size = { names, fields: definitions.reduce((sum, { properties }) => sum + 1 + (properties?.length ?? 0), 0) };
    sizes.set(visible, size);
  }
  return size;
}

/** One step of the building in each iteration of the event loop. */
async function finish(building: Generator<void, GraphQlSchema>): Promise<GraphQlSchema> {
  for (;;) {
    await eventLoop.next();
    const step = building.next();
    if (step.done === true) return step.value;
  }
}
