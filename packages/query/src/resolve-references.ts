import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type ObjectId,
  type ReferenceSelection,
  type ReferenceTargetSelection,
  type RowFields,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext, Yielder } from "@shoal/runtime";
import { fetchRows } from "./fetch-rows.js";
import type { ReferencedRow } from "./query-service.js";
import { queryYielder } from "./query-yielder.js";
import { scatter } from "./scatter.js";
import { StoredReferences } from "./stored-references.js";

export interface ReferenceParts {
  readonly schema: Pick<SchemaView, "classRecord">;
  readonly router: ShardRouter;
  /** References that one result may follow, each as often as it is reached (`REFERENCED_ROWS_MAX`). */
  readonly referencedRowsMax: number;
}

/** By property; a property without a living target of a wanted class is not in it. */
export type ResolvedReferences = ReadonlyMap<string, readonly ReferencedRow[]>;

/** Shared by all rows that have none; never written to. */
const NO_REFERENCES = new Map<string, readonly ReferencedRow[]>();

/** What a row and a reference cost beside its bytes, in units of a step. */
const ROW_WORK = 20;
const REFERENCE_WORK = 15;

/**
 * The targets of the selected references of objects, one result an object. Level by level, each with one request a
 * shard whatever the number of rows; an object is read once, however often it is reached, and its row stands in the
 * result as often as it is reached. Objects need their properties.
 *
 * A beacon has no class, so every selected class of a property is asked. Of twins (objects with one id in several of these
 * classes) that of the first class by name counts; where roles are on, the oldest one, as elsewhere. Targets stand in the order of
 * the selected classes, inside of one in stored order; what is gone is left out. Fails with `tooLarge`, naming the limit,
 * before it follows more than `referencedRowsMax` references.
 */
export async function resolveReferences(
  parts: ReferenceParts,
  objects: readonly StoredObject[],
  selections: readonly ReferenceSelection[],
  context: RequestContext,
): Promise<readonly ResolvedReferences[]> {
  const resolution = new Resolution(parts, selections, context);
  const rows = objects.map((object) => new Row(object, 1));
  let level: readonly Branch[] = [{ selections, rows }];
  while (level.length > 0) level = await resolution.next(level);
  return rows.map(({ references }) => references);
}

/** A row of one level: the same one wherever its object is reached by the same selection. */
class Row implements ReferencedRow {
  references = NO_REFERENCES;

  constructor(
    readonly object: StoredObject,
    /** How often it is reached. */
    public times: number,
  ) {}

  get id(): ObjectId {
    return this.object.id;
  }
}

/** Rows of one level of which the same is wanted. */
interface Branch {
  readonly selections: readonly ReferenceSelection[];
  readonly rows: readonly Row[];
}

/** What is known of the objects of a class. */
interface ClassObjects {
  readonly record: ClassRecord;
  /** All that is wanted of it anywhere: an object is read once. */
  fields: RowFields;
  /** Undefined: not there, or not read yet. */
  readonly objects: Map<ObjectId, StoredObject | undefined>;
  /** To be read with this level. */
  wanted: ObjectId[];
}

interface Candidate {
  readonly target: ReferenceTargetSelection;
  readonly found: ClassObjects;
  readonly rows: Map<ObjectId, Row>;
}

/** One property of one branch, and what its rows refer to. */
interface Followed {
  readonly property: string;
  /** In the order of the selection. */
  readonly candidates: readonly Candidate[];
  readonly edges: { readonly row: Row; readonly ids: readonly ObjectId[] }[];
}

class Resolution {
  readonly #yielder: Yielder;
  readonly #classes = new Map<string, ClassObjects>();
  #followed = 0;

  constructor(
    private readonly parts: ReferenceParts,
    selections: readonly ReferenceSelection[],
    private readonly context: RequestContext,
  ) {
    this.#yielder = queryYielder(context);
    this.#addClasses(selections);
  }

  /** Resolves a level; answers with the rows whose references are wanted in turn. */
  async next(level: readonly Branch[]): Promise<readonly Branch[]> {
    const followed: Followed[] = [];
    for (const branch of level) {
      for (const selection of branch.selections) followed.push(await this.#follow(selection, branch.rows));
    }
    await this.#read();
    const deeper: Branch[] = [];
    for (const one of followed) {
      await this.#link(one);
      for (const { target, rows } of one.candidates) {
        if (target.references.length === 0 || rows.size === 0) continue;
        deeper.push({ selections: target.references, rows: [...rows.values()] });
      }
    }
    return deeper;
  }

  /** Every class that is reached. One that is gone from the schema has no objects. */
  #addClasses(selections: readonly ReferenceSelection[]): void {
    for (const { className, fields, references } of selections.flatMap(({ targets }) => targets)) {
      const record = this.parts.schema.classRecord(className);
      if (record === undefined) continue;
      const wanted = { ...fields, properties: fields.properties || references.length > 0 };
      const known = this.#classes.get(className);
      if (known === undefined) this.#classes.set(className, { record, fields: wanted, objects: new Map(), wanted: [] });
      else known.fields = union(known.fields, wanted);
      this.#addClasses(references);
    }
  }

  /** Finds out what a property of rows refers to, and asks for what is not known of that. */
  async #follow({ property, targets }: ReferenceSelection, rows: readonly Row[]): Promise<Followed> {
    const candidates: Candidate[] = [];
    for (const target of targets) {
      const found = this.#classes.get(target.className);
      if (found !== undefined) candidates.push({ target, found, rows: new Map() });
    }
    const edges: Followed["edges"] = [];
    if (candidates.length === 0) return { property, candidates, edges };
    const stored = new StoredReferences(property);
    for (const row of rows) {
      const { propertiesJson } = row.object;
      const ids = stored.idsOf(propertiesJson);
      if (ids.length > 0) {
        this.#count(ids.length * row.times);
        edges.push({ row, ids });
        for (const { found } of candidates) want(found, ids);
      }
      this.#yielder.count(ROW_WORK + (propertiesJson.length >>> 5) + ids.length * REFERENCE_WORK);
      if (this.#yielder.isDue) await this.#yielder.next();
    }
    return { property, candidates, edges };
  }

  #count(references: number): void {
    const { referencedRowsMax } = this.parts;
    this.#followed += references;
    if (this.#followed <= referencedRowsMax) return;
    throw new ShoalError(
      "tooLarge",
      `the query follows more than ${referencedRowsMax} references (REFERENCED_ROWS_MAX): ask for fewer rows or levels`,
    );
  }

  async #read(): Promise<void> {
    const asked = [...this.#classes.values()].filter(({ wanted }) => wanted.length > 0);
    await scatter(asked, this.context, async (found, context) => {
      const { record, fields, objects, wanted } = found;
      found.wanted = [];
      const placed = wanted.map((id) => ({ id, record }));
      const read = await fetchRows(this.parts.router, placed, fields, context);
      for (const [at, id] of wanted.entries()) objects.set(id, read[at]);
    });
  }

  /** Which of the classes has what is referred to. */
  #first(byName: readonly Candidate[], id: ObjectId): Candidate | undefined {
    if (this.context.rights === undefined) return byName.find(({ found }) => found.objects.get(id));
    let first: Candidate | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const candidate of byName) {
      const created = candidate.found.objects.get(id)?.creationTimeUnix;
      if (created === undefined || created >= oldest) continue;
      first = candidate;
      oldest = created;
    }
    return first;
  }

  /** Gives the rows of one property what they refer to. */
  async #link({ property, candidates, edges }: Followed): Promise<void> {
    const byName = [...candidates].sort((a, b) => (a.target.className < b.target.className ? -1 : 1));
    for (const { row, ids } of edges) {
      const rows: Row[] = [];
      for (const candidate of candidates) {
        for (const id of ids) {
          const object = candidate.found.objects.get(id);
          if (object === undefined) continue;
          if (candidates.length > 1 && this.#first(byName, id) !== candidate) continue;
          rows.push(reached(candidate, object, row.times));
        }
      }
      if (rows.length > 0) {
        if (row.references === NO_REFERENCES) row.references = new Map();
        row.references.set(property, rows);
      }
      this.#yielder.count(ROW_WORK + ids.length * candidates.length * REFERENCE_WORK);
      if (this.#yielder.isDue) await this.#yielder.next();
    }
  }
}

function reached({ rows }: Candidate, object: StoredObject, times: number): Row {
  let row = rows.get(object.id);
  if (row === undefined) {
    row = new Row(object, times);
    rows.set(object.id, row);
  } else row.times += times;
  return row;
}

function want({ objects, wanted }: ClassObjects, ids: readonly ObjectId[]): void {
  for (const id of ids) {
    if (objects.has(id)) continue;
    objects.set(id, undefined);
    wanted.push(id);
  }
}

function union(a: RowFields, b: RowFields): RowFields {
  return {
    properties: a.properties || b.properties,
    vector: a.vector || b.vector,
    extras: a.extras || b.extras,
  };
}
