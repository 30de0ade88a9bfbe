import { type ObjectId, ShoalError, SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import type { RequestContext, RequestObserver } from "@shoal/runtime";
import type { AutoSchemaSettings } from "./auto-schema/auto-schema-settings.js";
import type { AutoSchemaTypes } from "./auto-schema/infer-data-type.js";
import { INGEST_LIMITS, type IngestLimits, type IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";
import { MemoryCluster } from "./memory-cluster.fixture.js";
import { ObjectIngest } from "./object-ingest.js";

export interface Setup {
  readonly cluster: MemoryCluster;
  readonly ingest: ObjectIngest;
  readonly context: RequestContext;
}

export interface SetupOptions {
  readonly nodes?: number;
  readonly shards?: number;
  readonly profile?: "spec" | "weaviate";
  readonly limits?: Partial<IngestLimits>;
  readonly nowMs?: () => number;
  /** Switches auto-schema on. */
  readonly autoSchema?: Partial<AutoSchemaTypes> | undefined;
  readonly onMade?: AutoSchemaSettings["onMade"];
  readonly rightsOf?: IngestParts["rightsOf"];
}

/** An ingest over a memory cluster with the classes Car (all kinds of properties), Bus and Note (no vectors). */
export function setUp(options: SetupOptions = {}): Setup {
  const nodes = Array.from({ length: options.nodes ?? 1 }, (_, i) => `node${i}`);
  const cluster = new MemoryCluster(nodes, options.shards ?? 1);
  cluster.addClass({
    class: "Note",
    vectorIndexConfig: { skip: true },
    properties: [{ name: "name", dataType: ["text"] }],
  });
  const properties = [
    { name: "name", dataType: ["text"] },
    { name: "wheels", dataType: ["int"] },
    { name: "notes", dataType: ["Note"] },
  ];
  cluster.addClass({ class: "Car", properties });
  cluster.addClass({ class: "Bus", properties });
  let ids = 0;
  const ingest = new ObjectIngest({
    schema: cluster,
    router: cluster.router,
    schemaService: cluster,
    profile: options.profile === "weaviate" ? WEAVIATE_PROFILE : SPEC_PROFILE,
    newId: () => `00000000-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`,
    nowMs: options.nowMs ?? (() => cluster.now),
    limits: { ...INGEST_LIMITS, ...options.limits },
    rightsOf: options.rightsOf,
    autoSchema:
      options.autoSchema === undefined ? undefined : autoSchemaOf(cluster, options.autoSchema, options.onMade),
  });
  return { cluster, ingest, context: { deadline: Number.MAX_SAFE_INTEGER } };
}

/** An object of class Note, past all checks. */
export function plantNote(cluster: MemoryCluster, id: ObjectId): void {
  const note = cluster.classRecord("Note");
  if (note === undefined) throw new Error("no class Note");
  cluster.plant(note, id);
}

function autoSchemaOf(
  cluster: MemoryCluster,
  types: Partial<AutoSchemaTypes>,
  onMade: AutoSchemaSettings["onMade"],
): AutoSchemaSettings {
  return {
    ...(onMade === undefined ? {} : { onMade }),
    types: { string: "text", number: "number", date: "date", ...types },
    schemaService: cluster,
    classSettings: () => cluster.classSettings,
    get schemaLimits() {
      return cluster.schemaLimits;
    },
  };
}

export function input(className: string | undefined, rest: Partial<ObjectInput> = {}): ObjectInput {
  return {
    id: undefined,
    className,
    properties: undefined,
    vector: [1, 2],
    vectorWeights: undefined,
    additional: undefined,
    ...rest,
  };
}

/** `code: message` of what `work` fails with, or `accepted`. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ShoalError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

export const MISSING_VECTOR =
  "class 'Car' has no vectorizer, so every object brings its vector: the member 'vector' is missing or empty";

/** Hears what is denied, and how often. */
export function deniedObserver() {
  const denied: Record<string, number> = {};
  const observer: RequestObserver = {
    denied: (action, resource) => {
      const what = `${action} ${resource}`;
      denied[what] = (denied[what] ?? 0) + 1;
    },
    concerns: () => undefined,
    wrote: () => undefined,
    madeSchema: () => undefined,
  };
  return { observer, denied };
}
