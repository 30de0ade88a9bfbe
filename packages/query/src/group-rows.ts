import { type ClassDefinition, type Grouping, type ObjectId, type RowFields, ShoalError } from "@shoal/model";
import type { RequestContext, Yielder } from "@shoal/runtime";
import { mergeProperties } from "./merge-properties.js";
import type { GetRow } from "./query-service.js";
import { queryYielder } from "./query-yielder.js";

/** Numbers that are multiplied in the time of one unit of a step. */
const NUMBERS_PER_UNIT = 32;

/**
 * Makes one row of similar rows (reference-graphql 2.8): in their order each row joins the first group that has a member
 * nearer than `force`, or begins a group. `closest` keeps the first row of a group; `merge` makes a row of all of them,
 * which has no id, and certainty 1 when rows have one. Rows need their vectors, which are left out again unless `fields`
 * has them; a row without a vector is near to nothing. Fails with `tooLarge` beyond `comparisonsMax` comparisons of two
 * rows: without near rows each row is compared with each.
 */
export async function groupRows(
  rows: readonly GetRow[],
  { type, force }: Grouping,
  definition: ClassDefinition,
  fields: RowFields,
  comparisonsMax: number,
  context: RequestContext,
): Promise<readonly GetRow[]> {
  const yielder = queryYielder(context);
  const groups = await findGroups(rows, force, new Comparisons(comparisonsMax, yielder));
  const result: GetRow[] = [];
  for (const group of groups) {
    const [first] = group;
    if (first === undefined) continue;
    if (type === "merge") result.push(await mergedRow(first, group, { definition, fields, yielder }));
    else result.push(fields.vector ? first : withoutVector(first));
  }
  return result;
}

function withoutVector(row: GetRow): GetRow {
  return row.object === undefined ? row : { ...row, object: { ...row.object, vector: undefined } };
}

interface Group {
  readonly rows: GetRow[];
  readonly members: Member[];
}

/** A row that others can be near to. */
interface Member {
  readonly vector: Float32Array;
  readonly length: number;
}

async function findGroups(
  rows: readonly GetRow[],
  force: number,
  comparisons: Comparisons,
): Promise<readonly (readonly GetRow[])[]> {
  const groups: Group[] = [];
  for (const row of rows) {
    const member = memberOf(row.object?.vector);
    const near = member && (await firstNear(groups, member, force, comparisons));
    if (near === undefined) groups.push({ rows: [row], members: member === undefined ? [] : [member] });
    else {
      near.rows.push(row);
      if (member !== undefined) near.members.push(member);
    }
  }
  return groups.map((group) => group.rows);
}

async function firstNear(
  groups: readonly Group[],
  member: Member,
  force: number,
  comparisons: Comparisons,
): Promise<Group | undefined> {
  for (const group of groups) {
    for (const other of group.members) {
      if (comparisons.count(member.vector.length)) await comparisons.yielder.next();
      if (halfDistance(member, other) < force) return group;
    }
  }
  return undefined;
}

/** Bounds the work of all comparisons. */
class Comparisons {
  readonly yielder: Yielder;
  #count = 0;

  constructor(
    private readonly max: number,
    yielder: Yielder,
  ) {
    this.yielder = yielder;
  }

  /** Vectors of so many numbers are compared next; whether to yield. */
  count(numbers: number): boolean {
    this.#count += 1;
    if (this.#count > this.max) {
      const rule = `more than ${this.max} comparisons of rows`;
      throw new ShoalError("tooLarge", `group: ${rule}: ask for fewer rows, or raise the force`);
    }
    this.yielder.count(1 + numbers / NUMBERS_PER_UNIT);
    return this.yielder.isDue;
  }
}

/** Undefined for no vector, and for one without a direction. */
function memberOf(vector: Float32Array | undefined): Member | undefined {
  if (vector === undefined) return undefined;
  const length = Math.sqrt(dotProduct(vector, vector));
  return length > 0 ? { vector, length } : undefined;
}

/** Half the cosine distance, 0 to 1, in float32 as certainties are. */
function halfDistance(a: Member, b: Member): number {
  return Math.fround(Math.max(0, 1 - dotProduct(a.vector, b.vector) / (a.length * b.length)) / 2);
}

function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

interface Merging {
  readonly definition: ClassDefinition;
  readonly fields: RowFields;
  readonly yielder: Yielder;
}

async function mergedRow(
  { certainty, object }: GetRow,
  group: readonly GetRow[],
  { definition, fields, yielder }: Merging,
): Promise<GetRow> {
  const objects = group.flatMap((row) => row.object ?? []);
  const merged = object && {
    ...object,
    propertiesJson: fields.properties ? await mergeProperties(objects, definition, yielder) : object.propertiesJson,
    vector: fields.vector ? meanVector(objects.flatMap(({ vector }) => vector ?? [])) : undefined,
    extras: undefined,
  };
  return { id: "" as ObjectId, certainty: certainty === undefined ? undefined : 1, object: merged };
}

function meanVector(vectors: readonly Float32Array[]): Float32Array | undefined {
  const [first] = vectors;
  if (first === undefined) return undefined;
  const mean = new Float64Array(first.length);
  for (const vector of vectors) for (const [at, number] of vector.entries()) mean[at] = (mean[at] ?? 0) + number;
  return Float32Array.from(mean, (sum) => sum / vectors.length);
}
