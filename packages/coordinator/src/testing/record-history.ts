import { type ClassDefinition, type PropertyDefinition, ShoalError } from "@shoal/model";
import type { ClassRecord, EnsuredClass, EnsuredProperties, SchemaSnapshot } from "@shoal/rpc";
import { Ledger } from "../ledger.js";
import type { MetaStore } from "../meta-store.js";
import { NodeRegistry } from "../node-registry.js";
import { SchemaCoordinator } from "../schema-coordinator.js";
import { confirmingHolders } from "./confirming-holders.js";

/** What is asked of a coordinator; the operation's number marks what it writes. */
export type Operation =
  | { readonly kind: "add" | "ensure"; readonly className: string; readonly properties: readonly PropertyDefinition[] }
  | { readonly kind: "addProperty"; readonly className: string; readonly properties: readonly PropertyDefinition[] }
  | {
      readonly kind: "ensureProperties";
      readonly className: string;
      readonly classId: string;
      readonly properties: readonly PropertyDefinition[];
    }
  | {
      readonly kind: "update";
      readonly className: string;
      readonly definition: ClassDefinition;
      readonly version: number;
    }
  | { readonly kind: "delete"; readonly className: string; readonly classId: string | undefined }
  | { readonly kind: "fixDimensions"; readonly className: string; readonly classId: string }
  | { readonly kind: "register"; readonly node: string }
  | { readonly kind: "read" };

export type RecordedResult = ClassRecord | EnsuredClass | EnsuredProperties | SchemaSnapshot | number | undefined;

export type Outcome =
  | { readonly type: "done"; readonly result: RecordedResult }
  | { readonly type: "refused"; readonly code: string }
  /** No result: it may have been done. */
  | { readonly type: "unknown" };

export interface Recorded {
  /** From 1 on; it stands in whatever the operation wrote. */
  readonly number: number;
  readonly operation: Operation;
  /** Moments, counted over all operations. */
  readonly invoked: number;
  readonly returned: number;
  readonly outcome: Outcome;
}

export interface RecordedHistory {
  readonly operations: readonly Recorded[];
  /** For each coordinator what its watcher saw. */
  readonly watched: readonly (readonly SchemaSnapshot[])[];
}

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const CLASSES = ["Ape", "Bee", "Cat", "Dog"];
const NODES = ["n1", "n2", "n3"];

interface Coordinator {
  readonly schema: SchemaCoordinator;
  readonly nodes: NodeRegistry;
  readonly watched: SchemaSnapshot[];
}

/** Has one coordinator a store do random operations, several at a time, and records all of it. */
export async function recordHistory(
  stores: readonly MetaStore[],
  random: () => number,
  { workers, steps }: { readonly workers: number; readonly steps: number },
): Promise<RecordedHistory> {
  let number = 0;
  let moment = 0;
  const operations: Recorded[] = [];
  // A deletion leaves no mark: one at a time of a class, and none after one that nobody knows the outcome of.
  const deleted = new Set<string>();
  const coordinators = await Promise.all(stores.map((store, at) => openCoordinator(store, at)));
  const work = async (coordinator: Coordinator) => {
    for (let step = 0; step < steps; step++) {
      const own = ++number;
      const drawn = drawOperation(coordinator, own, random);
      const isHeldBack = drawn.kind === "delete" && deleted.has(drawn.className);
      const operation: Operation = isHeldBack ? { kind: "read" } : drawn;
      if (operation.kind === "delete") deleted.add(operation.className);
      const invoked = ++moment;
      const outcome = await outcomeOf(perform(coordinator, operation, own));
      if (operation.kind === "delete" && outcome.type !== "unknown") deleted.delete(operation.className);
      operations.push({ number: own, operation, invoked, returned: ++moment, outcome });
    }
  };
  await Promise.all(coordinators.flatMap((one) => Array.from({ length: workers }, () => work(one))));
  return { operations, watched: coordinators.map(({ watched }) => watched) };
}

async function openCoordinator(store: MetaStore, at: number): Promise<Coordinator> {
  const ledger = await openSurely(store);
  let classIds = 0;
  const schema = new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 1,
    createSharding: (_, nodeNames) => ({
      shards: [{ name: "s", members: nodeNames }],
      virtualShards: ["v"],
      assignments: [0],
    }),
    newClassId: () => `c${at}x${++classIds}`,
    limits: { classesMax: 25, propertiesPerClassMax: 25 },
    shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
  });
  confirmingHolders(ledger);
  const watched: SchemaSnapshot[] = [];
  schema.watch((snapshot) => watched.push(snapshot));
  return { schema, nodes: new NodeRegistry(ledger, 1), watched };
}

async function openSurely(store: MetaStore): Promise<Ledger> {
  for (;;) {
    try {
      return await Ledger.open(store, Date.now);
    } catch {
      // It was lost on the way.
    }
  }
}

function drawOperation({ watched }: Coordinator, number: number, random: () => number): Operation {
  const draw = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const className = draw(CLASSES);
  const property = (): PropertyDefinition => {
    return { name: draw(["p", "q", "r", "s"]), dataType: [draw(["int", "text"])], description: String(number) };
  };
  const known = watched.at(-1);
  const record = known?.classes.find(({ definition }) => definition.class === className);
  const kind = draw([
    "add",
    "ensure",
    "addProperty",
    "ensureProperties",
    "ensureProperties",
    "update",
    "delete",
    "fix",
    "register",
    "read",
  ]);
  if (kind === "register") return { kind, node: draw(NODES) };
  if (kind === "read") return { kind };
  if (kind === "delete" && random() < 0.5) return { kind, className, classId: record?.classId };
  if (kind === "ensure") return { kind, className, properties: [property()] };
  if (kind === "add" || record === undefined || known === undefined)
    return { kind: "add", className, properties: [property()] };
  const { classId } = record;
  if (kind === "addProperty") return { kind, className, properties: [property()] };
  if (kind === "ensureProperties") return { kind, className, classId, properties: [property(), property()] };
  if (kind === "fix") return { kind: "fixDimensions", className, classId };
  if (kind === "update") return { kind, className, definition: record.definition, version: known.version };
  return { kind: "ensure", className, properties: [property()] };
}

function perform({ schema, nodes }: Coordinator, operation: Operation, number: number): Promise<RecordedResult> {
  const marked = (className: string, properties: readonly PropertyDefinition[]) =>
    ({ class: className, description: String(number), properties }) as unknown as ClassDefinition;
  switch (operation.kind) {
    case "add":
      return schema.addClass(marked(operation.className, operation.properties), CONTEXT);
    case "ensure":
      return schema.ensureClass(marked(operation.className, operation.properties), CONTEXT);
    case "addProperty":
      return schema.addProperty(operation.className, operation.properties[0] as PropertyDefinition, CONTEXT);
    case "ensureProperties":
      return schema.ensureProperties(operation.className, operation.classId, operation.properties, CONTEXT);
    case "update":
      return schema.updateClass({ ...operation.definition, description: String(number) }, operation.version, CONTEXT);
    case "delete":
      return schema.deleteClass(operation, CONTEXT).then(() => undefined);
    case "fixDimensions":
      return schema.fixDimensions(operation.className, operation.classId, number, CONTEXT);
    case "register":
      return nodes
        .register({ name: operation.node, address: String(number), shoalVersion: "1", gitHash: "" }, CONTEXT)
        .then(() => undefined);
    case "read":
      return schema.current(CONTEXT);
  }
}

async function outcomeOf(promise: Promise<RecordedResult>): Promise<Outcome> {
  try {
    return { type: "done", result: await promise };
  } catch (thrown) {
    const { code } = ShoalError.from(thrown);
    if (code === "internal") throw thrown;
    return code === "unavailable" ? { type: "unknown" } : { type: "refused", code };
  }
}
