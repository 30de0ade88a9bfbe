import type { PropertyDefinition } from "@shoal/model";
import type { MetaState } from "../meta-store.js";
import type { Operation } from "./record-history.js";

export interface ModelClass {
  readonly classId: string;
  readonly description: string;
  readonly properties: readonly PropertyDefinition[];
  readonly dimensions: number | undefined;
  readonly members: readonly string[];
  readonly order: number;
}

/** What the coordinators are to agree on, written down once more, as simply as possible. */
export interface Model {
  readonly version: number;
  readonly classes: ReadonlyMap<string, ModelClass>;
  /** Names of nodes and the operation that entered them last. */
  readonly nodes: ReadonlyMap<string, string>;
}

export const EMPTY_MODEL: Model = { version: 0, classes: new Map(), nodes: new Map() };

/** The model after an operation, the same one when it changes nothing, or the code of the refusal. */
export function applyOperation(
  model: Model,
  revision: number,
  number: number,
  operation: Operation,
  newClassId: string,
): Model | string {
  const mark = String(number);
  if (operation.kind === "read") return model;
  if (operation.kind === "register") return { ...model, nodes: new Map(model.nodes).set(operation.node, mark) };
  const { className } = operation;
  const known = model.classes.get(className);
  const withClass = (one: ModelClass): Model => {
    return { ...model, version: revision, classes: new Map(model.classes).set(className, one) };
  };
  const created = (properties: readonly PropertyDefinition[]): Model | string => {
    if (model.nodes.size === 0) return "unavailable";
    const members = [...model.nodes.keys()].sort();
    const order = 1 + Math.max(0, ...Array.from(model.classes.values(), (one) => one.order));
    return withClass({ classId: newClassId, description: mark, properties, dimensions: undefined, members, order });
  };
  if (operation.kind === "add") return known === undefined ? created(operation.properties) : "invalid";
  if (operation.kind === "update" && model.version !== operation.version) return "conflict";
  if (known === undefined) return operation.kind === "ensure" ? created(operation.properties) : "notFound";
  if ("classId" in operation && operation.classId !== known.classId) {
    return operation.kind === "delete" ? "conflict" : "notFound";
  }
  switch (operation.kind) {
    case "ensure":
      return model;
    case "delete":
      return {
        ...model,
        version: revision,
        classes: new Map([...model.classes].filter(([name]) => name !== className)),
      };
    case "fixDimensions":
      return known.dimensions === undefined ? withClass({ ...known, dimensions: number }) : model;
    case "update": {
      return withClass({ ...known, description: mark, properties: operation.definition.properties ?? [] });
    }
    case "addProperty": {
      const isThere = known.properties.some(({ name }) => name === operation.properties[0]?.name);
      return isThere ? "invalid" : withClass({ ...known, properties: [...known.properties, ...operation.properties] });
    }
    default: {
      const properties = [...known.properties];
      for (const property of operation.properties) {
        const other = properties.find(({ name }) => name === property.name);
        if (other === undefined) properties.push(property);
        else if (other.dataType[0] !== property.dataType[0]) return "conflict";
      }
      return properties.length === known.properties.length ? model : withClass({ ...known, properties });
    }
  }
}

/** A state of a MetaStore in the model's words. */
export function modelOf({ revision, entries }: MetaState): Model {
  const classes = new Map<string, ModelClass>();
  const nodes = new Map<string, string>();
  let version = revision;
  for (const [key, value] of entries) {
    const [kind, name = ""] = key.split("/");
    if (kind === "schemaVersion") version = Number(value);
    else if (kind === "node") nodes.set(name, (value as unknown as { address: string }).address);
    else if (kind === "class") classes.set(name, modelClass(value as unknown as StoredValue));
  }
  return { version, classes, nodes };
}

interface StoredValue {
  readonly record: {
    readonly classId: string;
    readonly definition: { readonly description: string; readonly properties: readonly PropertyDefinition[] };
    readonly dimensions?: number;
    readonly sharding: { readonly shards: readonly { readonly members: readonly string[] }[] };
  };
  readonly order: number;
}

function modelClass({ record, order }: StoredValue): ModelClass {
  const { classId, definition, dimensions, sharding } = record;
  const { description, properties } = definition;
  return { classId, description, properties, dimensions, members: sharding.shards[0]?.members ?? [], order };
}
