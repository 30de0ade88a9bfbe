import { type GetQuery, parseShortBeacon, type ReferenceSelection, type StoredObject } from "@shoal/model";
import type { GetRow, ReferencedRow } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import { LibraryQuery, libraryClass, property, storedObject } from "./library.js";

/** What refers to others of its class, in two ways. */
export const NODE = libraryClass("Node", [
  property("name", "text"),
  property("next", "Node"),
  property("other", "Node"),
]);

const HUB_INDEX = 0;

/** A node to which `leaves` others refer, and which refers to all of these; its stored properties take `padding` more bytes. */
export function hubAndLeaves(leaves: number, padding: number): readonly StoredObject[] {
  const hub = { ...storedObject("Node", HUB_INDEX, {}), id: idOf(0) };
  const made = Array.from({ length: leaves }, (_, i) => ({
    ...storedObject("Node", 1, { name: `leaf "${i}" é`, next: [beacon(0)], other: i % 3 === 0 ? [beacon(1)] : [] }),
    id: idOf(i + 1),
  }));
  const properties = { aside: "x".repeat(padding), name: "hub", next: made.map((_, i) => beacon(i + 1)) };
  return [{ ...hub, propertiesJson: Buffer.from(JSON.stringify(properties)) }, ...made];
}

function idOf(index: number): StoredObject["id"] {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}` as StoredObject["id"];
}

function beacon(index: number) {
  return { beacon: `svc://localhost/${idOf(index)}` };
}

/** Answers with rows that are one wherever the same selection reaches their object, as the query service does. */
export class HubQuery extends LibraryQuery {
  readonly #byId: ReadonlyMap<string, StoredObject>;

  constructor(private readonly nodes: readonly StoredObject[]) {
    super({ Node: nodes });
    this.#byId = new Map(nodes.map((node) => [node.id, node]));
  }

  override async get(query: GetQuery, _context?: RequestContext): Promise<readonly GetRow[]> {
    this.asked.push(query);
    const { limit = 100, offset = 0, references = [] } = query;
    const known = new Map<ReferenceSelection, Map<string, ReferencedRow>>();
    return this.nodes.slice(offset, offset + limit).map((object) => ({
      id: object.id,
      certainty: undefined,
      object,
      references: this.#resolved(object, references, known),
    }));
  }

  #resolved(
    object: StoredObject,
    selections: readonly ReferenceSelection[],
    known: Map<ReferenceSelection, Map<string, ReferencedRow>>,
  ): ReadonlyMap<string, readonly ReferencedRow[]> {
    const stored = JSON.parse(object.propertiesJson.toString()) as Record<string, readonly { beacon: string }[]>;
    const resolved = new Map<string, readonly ReferencedRow[]>();
    for (const selection of selections) {
      const rows = known.get(selection) ?? new Map<string, ReferencedRow>();
      known.set(selection, rows);
      const targets = (stored[selection.property] ?? []).map(({ beacon: text }) => {
        const { id } = parseShortBeacon(text);
        const reached = rows.get(id);
        if (reached !== undefined) return reached;
        const target = this.#byId.get(id) as StoredObject;
        const references = this.#resolved(target, selection.targets[0]?.references ?? [], known);
        const row = { id: target.id, object: target, references };
        rows.set(id, row);
        return row;
      });
      if (targets.length > 0) resolved.set(selection.property, targets);
    }
    return resolved;
  }
}
