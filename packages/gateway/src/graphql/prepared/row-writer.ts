import type { GetRow, ReferencedRow } from "@shoal/query";
import { classificationOf, memberOf } from "../plain/plain-row.js";
import { findMembers } from "./find-members.js";
import type { JsonBytes } from "./json-bytes.js";
import { TURN_BYTES } from "./planned-call.js";

const OPEN_BRACE = 123;
const NULL = Buffer.from("null");
const NO_OBJECT = Buffer.from("{}");

/** A field of an object as it is stored. */
export type StoredField =
  /** Spliced as it is stored. */
  | { readonly kind: "value"; readonly responseName: string; readonly property: string }
  | {
      readonly kind: "object";
      readonly responseName: string;
      readonly property: string;
      readonly members: StoredFields;
    }
  | { readonly kind: "typename"; readonly responseName: string; readonly typeName: string };

export type StoredFields = readonly StoredField[];

/** A field of `_additional`. */
export type AdditionalField =
  | { readonly kind: "id" | "certainty" | "vector"; readonly responseName: string }
  | { readonly kind: "typename"; readonly responseName: string; readonly typeName: string }
  | { readonly kind: "classification"; readonly responseName: string; readonly members: readonly PlainMember[] };

/** A member of the stored classification, or its type's name. */
export interface PlainMember {
  readonly responseName: string;
  readonly member: string | undefined;
  readonly typeName: string;
}

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
  | { readonly kind: "additional"; readonly responseName: string; readonly fields: readonly AdditionalField[] };

/** A row of a class field, or what a reference points to. */
type AnyRow = GetRow | ReferencedRow;

/** What the rows of a writer are: only hits have a certainty, and of targets `_additional` knows the id only. */
export type RowKind = "listed" | "hit" | "target";

/** Writes the rows of one class field as JSON, from stored bytes straight to bytes that are sent. */
export class RowWriter {
  readonly #stored: ObjectWriter;
  readonly #steps: readonly { readonly prefix: Buffer; readonly field: RowField }[];
  readonly #storesAnything: boolean;

  constructor(
    fields: readonly RowField[],
    private readonly kind: RowKind,
  ) {
    this.#stored = new ObjectWriter(fields.filter(isStored));
    this.#steps = fields.map((field, i) => ({ prefix: memberPrefix(field.responseName, i), field }));
    this.#storesAnything = fields.some((field) => field.kind === "value" || field.kind === "object");
  }

  /**
   * Writes all rows; yields now and then between two of them, so that a large answer need not hold up everybody else.
   * Fails with `dataLoss` when stored bytes are no JSON; what was written by then is the caller's to take back.
   */
  *write(rows: readonly GetRow[], out: JsonBytes): Generator<void, void> {
    let turnEnd = out.length + TURN_BYTES;
    out.byte(91);
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) out.byte(44);
      this.#row(rows[i] as GetRow, out);
      if (out.length < turnEnd) continue;
      yield;
      turnEnd = out.length + TURN_BYTES;
    }
    out.byte(93);
  }

  #row(row: AnyRow, out: JsonBytes): void {
    const json = row.object?.propertiesJson ?? NO_OBJECT;
    if (this.#storesAnything) this.#stored.find(json, 0);
    let storedAt = 0;
    for (const { prefix, field } of this.#steps) {
      out.bytes(prefix);
      if (field.kind === "additional") this.#additional(row, field.fields, out);
      else if (field.kind === "references")
        this.#references(row.references?.get(field.property) ?? [], field.targets, out);
      else this.#stored.writeValue(storedAt++, json, out);
    }
    out.byte(125);
  }

  /** Class by class, in the order in which they came; null when there are none. */
  #references(rows: readonly ReferencedRow[], targets: readonly TargetField[], out: JsonBytes): void {
    let isFirst = true;
    for (const { className, rows: writer } of targets) {
      for (const row of rows) {
        if (row.object.className !== className) continue;
        out.byte(isFirst ? 91 : 44);
        isFirst = false;
        writer.#row(row, out);
      }
    }
    if (isFirst) out.bytes(NULL);
    else out.byte(93);
  }

  #additional(row: AnyRow, fields: readonly AdditionalField[], out: JsonBytes): void {
    if (!this.#hasAny(row, fields)) {
      out.bytes(NULL);
      return;
    }
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as AdditionalField;
      out.byte(i === 0 ? OPEN_BRACE : 44);
      out.byte(34);
      out.ascii(field.responseName);
      out.byte(34);
      out.byte(58);
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
    else if (this.kind === "target") out.bytes(NULL);
    else if (field.kind === "vector") out.float32Array(row.object?.vector ?? NO_VECTOR);
    else if (field.kind === "classification") writeClassification(row, field.members, out);
    else if (this.kind === "hit") out.float32(certaintyOf(row) ?? Number.NaN);
    else out.bytes(NULL);
  }

  /** Whether any of the wanted values exists (reference-graphql 2.6). */
  #hasAny(row: AnyRow, fields: readonly AdditionalField[]): boolean {
    for (const { kind } of fields) {
      if (kind === "id") return true;
      if (this.kind === "target") continue;
      if (kind === "vector") return true;
      if (kind === "certainty" && this.kind === "hit") return true;
      if (kind === "classification" && classificationOf(row.object) !== undefined) return true;
    }
    return false;
  }
}

function isStored(field: RowField): field is StoredField {
  return field.kind !== "additional" && field.kind !== "references";
}

function certaintyOf(row: AnyRow): number | undefined {
  return "certainty" in row ? row.certainty : undefined;
}

const NO_VECTOR = new Float32Array(0);

function writeClassification(row: AnyRow, members: readonly PlainMember[], out: JsonBytes): void {
  const stored = classificationOf(row.object);
  if (stored === undefined) {
    out.bytes(NULL);
    return;
  }
  for (const [i, { responseName, member, typeName }] of members.entries()) {
    out.utf8(`${i === 0 ? "{" : ","}"${responseName}":`);
    out.utf8(JSON.stringify(member === undefined ? typeName : memberOf(stored, member)));
  }
  out.byte(125);
}

/** Writes some members of a stored JSON object in the order of a selection. */
class ObjectWriter {
  readonly #fields: StoredFields;
  readonly #names: readonly Buffer[];
  /** For each field the place of its name in `#names`. */
  readonly #indexes: readonly number[];
  readonly #prefixes: readonly Buffer[];
  readonly #typeNames: readonly Buffer[];
  readonly #inner: readonly (ObjectWriter | undefined)[];
  readonly #spans: Int32Array;

  constructor(fields: StoredFields) {
    const names = [...new Set(fields.flatMap((field) => (field.kind === "typename" ? [] : field.property)))];
    this.#fields = fields;
    this.#names = names.map((name) => Buffer.from(name));
    this.#indexes = fields.map((field) => (field.kind === "typename" ? -1 : names.indexOf(field.property)));
    this.#prefixes = fields.map((field, i) => memberPrefix(field.responseName, i));
    this.#typeNames = fields.map((field) => Buffer.from(field.kind === "typename" ? `"${field.typeName}"` : ""));
    this.#inner = fields.map((field) => (field.kind === "object" ? new ObjectWriter(field.members) : undefined));
    this.#spans = new Int32Array(names.length * 2);
  }

  /** Looks up what {@link writeValue} writes, in the object at `start`. */
  find(json: Uint8Array, start: number): void {
    findMembers(json, start, this.#names, this.#spans);
  }

  writeValue(field: number, json: Uint8Array, out: JsonBytes): void {
    const index = this.#indexes[field] as number;
    if (index < 0) {
      out.bytes(this.#typeNames[field] as Buffer);
      return;
    }
    const start = this.#spans[index * 2] as number;
    const inner = this.#inner[field];
    if (start < 0) out.bytes(NULL);
    else if (inner === undefined) out.copy(json, start, this.#spans[index * 2 + 1] as number);
    else if (json[start] === OPEN_BRACE) inner.#writeObject(json, start, out);
    else out.bytes(NULL);
  }

  #writeObject(json: Uint8Array, start: number, out: JsonBytes): void {
    this.find(json, start);
    for (let field = 0; field < this.#fields.length; field++) {
      out.bytes(this.#prefixes[field] as Buffer);
      this.writeValue(field, json, out);
    }
    out.byte(125);
  }
}

/** `{"name":` for the first member, `,"name":` for the others. */
function memberPrefix(responseName: string, index: number): Buffer {
  return Buffer.from(`${index === 0 ? "{" : ","}"${responseName}":`);
}
