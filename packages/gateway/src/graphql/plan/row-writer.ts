import type { Json, StoredObject } from "@shoal/model";
import type { GetRow, ReferencedRow } from "@shoal/query";
import { GraphQLError } from "graphql";
import type { Selection } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";
import { type JsonSelection, memberOf, memberPrefix, writeJson } from "./json-selection.js";
import { ObjectWriter, type StoredField } from "./object-writer.js";
import { RowWork } from "./row-work.js";

const OPEN_BRACE = 123;
const NULL = Buffer.from("null");
const NO_OBJECT = Buffer.from("{}");

/** A field of `_additional`; `prefix` stands before its value. */
export type AdditionalField = {
  readonly prefix: string;
} /** `unknown`: what modules add to rows, and not to those that others refer to. */ & (
  | { readonly kind: "id" | "certainty" | "vector" | "unknown" }
  | { readonly kind: "typename"; readonly typeName: string }
  | { readonly kind: "classification"; readonly selection: JsonSelection }
  /** What a module adds: `place` in the row's additional values. */
  | { readonly kind: "added"; readonly place: number; readonly selection: JsonSelection }
);

/** The rows of one class of a reference property. */
export interface TargetField {
  readonly className: string;
  readonly rows: RowWriter;
}

/** A field of a class. */
export type RowField =
  | StoredField
  | {
      readonly kind: "references";
      readonly responseName: string;
      readonly property: string;
      /** In the order in which they are answered. */
      readonly targets: readonly TargetField[];
    }
  | { readonly kind: "additional"; readonly responseName: string; readonly fields: Selection<AdditionalField> };

/** A row of a class field, or what a reference points to. */
type AnyRow = GetRow | ReferencedRow;

/** What the rows of a writer are: only hits have a certainty, and of targets `_additional` knows the id only. */
export type RowKind = "listed" | "hit" | "target";

/** A field, and where its stored value is among the stored ones. */
interface Step {
  readonly prefix: Buffer;
  readonly field: RowField;
  readonly storedAt: number;
}

/** Writes the rows of one class field as JSON, from stored bytes straight to bytes that are sent. */
export class RowWriter {
  readonly #stored: ObjectWriter;
  readonly #steps: readonly Step[];
  readonly #storesAnything: boolean;
  readonly #refersAnywhere: boolean;
  /** Classes of references that are answered, at every depth, each alias counted. */
  readonly returnedTargets: number;

  constructor(
    fields: readonly RowField[],
    private readonly kind: RowKind,
  ) {
    const stored = fields.filter(isStored);
    this.#stored = new ObjectWriter(stored);
    this.#steps = fields.map((field, i) => ({
      prefix: Buffer.from(memberPrefix(field.responseName, i)),
      field,
      storedAt: isStored(field) ? stored.indexOf(field) : -1,
    }));
    this.#storesAnything = stored.some((field) => field.kind !== "typename");
    const targets = fields.flatMap((field) => (field.kind === "references" ? field.targets : []));
    this.#refersAnywhere = fields.some((field) => field.kind === "references");
    this.returnedTargets = targets.reduce((count, { rows }) => count + 1 + rows.returnedTargets, 0);
  }

  /**
   * Writes all rows; yields now and then between two of them or between rows that they refer to, so that a large response
   * need not hold up everybody else. What is reached often by one selection is worked on once. Fails with `dataLoss` when
   * stored bytes are no JSON; what was written by then is the caller's to remove.
   */
  *write(rows: readonly GetRow[], out: JsonBytes): Generator<void, void> {
    const work = new RowWork(out);
    out.byte(91);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as GetRow;
      if (i > 0) out.byte(44);
      if (this.#refers(row)) yield* this.#rowInSteps(row, work);
      else this.#row(row, work);
      if (!work.isStepOver) continue;
      yield;
      work.nextStep();
    }
    out.byte(93);
  }

  /** Whether the row refers to others that are wanted. */
  #refers(row: AnyRow): boolean {
    return this.#refersAnywhere && row.references !== undefined && row.references.size > 0;
  }

  #row(row: AnyRow, work: RowWork): void {
    work.countRow();
    this.#find(row, work);
    if (this.#steps.length === 0) work.out.byte(OPEN_BRACE);
    for (const step of this.#steps) this.#member(step, row, work.out);
    work.out.byte(125);
  }

  *#rowInSteps(row: AnyRow, work: RowWork): Generator<void, void> {
    work.countRow();
    this.#find(row, work);
    for (const step of this.#steps) {
      const { prefix, field } = step;
      const targets = field.kind === "references" ? row.references?.get(field.property) : undefined;
      if (field.kind !== "references" || targets === undefined) {
        this.#member(step, row, work.out);
        continue;
      }
      const stepBefore = work.step;
      work.out.bytes(prefix);
      yield* RowWriter.#references(targets, field.targets, work);
      // What was found may have been replaced by another response of the same plan.
      if (work.step !== stepBefore) this.#find(row, work);
    }
    work.out.byte(125);
  }

  /** Class by class, in the order in which they came; null when there are none. */
  static *#references(
    rows: readonly ReferencedRow[],
    targets: readonly TargetField[],
    work: RowWork,
  ): Generator<void, void> {
    const { out } = work;
    let isFirst = true;
    for (const { className, rows: writer } of targets) {
      for (const row of rows) {
        if (row.object.className !== className) continue;
        out.byte(isFirst ? 91 : 44);
        isFirst = false;
        if (work.repeat(writer, row)) work.countRow();
        else {
          const { spent } = work;
          const start = out.length;
          if (writer.#refers(row)) yield* writer.#rowInSteps(row, work);
          else writer.#row(row, work);
          work.keep(writer, row, start, spent);
        }
        if (!work.isStepOver) continue;
        yield;
        work.nextStep();
      }
    }
    if (isFirst) out.bytes(NULL);
    else out.byte(93);
  }

  #find(row: AnyRow, work: RowWork): void {
    if (this.#storesAnything) this.#stored.findIn(propertiesOf(row), work);
  }

  /** Writes a field for which nothing else has to be written; of references, that there are none. */
  #member({ prefix, field, storedAt }: Step, row: AnyRow, out: JsonBytes): void {
    out.bytes(prefix);
    if (field.kind === "additional") this.#additional(row, field.fields, out);
    else if (field.kind === "references") out.bytes(NULL);
    else this.#stored.writeValue(storedAt, propertiesOf(row), out);
  }

  #additional(row: AnyRow, fields: Selection<AdditionalField>, out: JsonBytes): void {
    if (fields instanceof GraphQLError) {
      out.failed(fields);
      return;
    }
    if (!this.#hasAny(row, fields)) {
      out.bytes(NULL);
      return;
    }
    for (const field of fields) {
      out.ascii(field.prefix);
      this.#additionalValue(row, field, out);
    }
    out.byte(125);
  }

  #additionalValue(row: AnyRow, field: AdditionalField, out: JsonBytes): void {
    if (field.kind === "id") {
      out.byte(34);
      out.ascii(row.id);
      out.byte(34);
    } else if (field.kind === "typename") out.utf8(JSON.stringify(field.typeName));
    else if (this.kind === "target" || field.kind === "unknown") out.bytes(NULL);
    else if (field.kind === "vector") out.float32Array(row.object?.vector ?? NO_VECTOR);
    else if (field.kind === "classification") writeJson(classificationOf(row.object), field.selection, out);
    else if (field.kind === "added") writeJson(addedOf(row, field.place), field.selection, out);
    else if (this.kind === "hit") out.float32(certaintyOf(row) ?? Number.NaN);
    else out.bytes(NULL);
  }

  /** Whether any of the wanted values exists (reference-graphql 2.6). */
  #hasAny(row: AnyRow, fields: readonly AdditionalField[]): boolean {
    for (const field of fields) {
      const { kind } = field;
      if (kind === "id") return true;
      if (this.kind === "target") continue;
      if (kind === "vector") return true;
      if (kind === "certainty" && this.kind === "hit") return true;
      if (kind === "classification" && classificationOf(row.object) !== undefined) return true;
      if (kind === "added" && addedOf(row, field.place) !== null) return true;
    }
    return false;
  }
}

function isStored(field: RowField): field is StoredField {
  return field.kind !== "additional" && field.kind !== "references";
}

function propertiesOf(row: AnyRow): Uint8Array {
  return row.object?.propertiesJson ?? NO_OBJECT;
}

function certaintyOf(row: AnyRow): number | undefined {
  return "certainty" in row ? row.certainty : undefined;
}

function addedOf(row: AnyRow, place: number): Json {
  return "additional" in row ? (row.additional?.[place] ?? null) : null;
}

const NO_VECTOR = new Float32Array(0);

/** The stored classification of an object, or undefined. */
function classificationOf(object: StoredObject | undefined): Json | undefined {
  const classification = memberOf(memberOf(object?.extras, "additional"), "classification");
  return typeof classification === "object" && classification !== null ? classification : undefined;
}
