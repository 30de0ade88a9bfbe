import { GraphQLError } from "graphql";
import type { Selection } from "./compile-fields.js";
import { findMembers } from "./find-members.js";
import type { JsonBytes } from "./json-bytes.js";
import { memberPrefix } from "./json-selection.js";
import type { RowWork } from "./row-work.js";

const OPEN_BRACE = 123;
const NULL = Buffer.from("null");

/** A field of an object as it is stored. */
export type StoredField =
  /** Spliced as it is stored. */
  | { readonly kind: "value"; readonly responseName: string; readonly property: string }
  | {
      readonly kind: "object";
      readonly responseName: string;
      readonly property: string;
      readonly members: Selection<StoredField>;
    }
  | { readonly kind: "typename"; readonly responseName: string; readonly typeName: string };

/** Writes some members of a stored JSON object in the order of a selection. */
export class ObjectWriter {
  readonly #names: readonly Buffer[];
  /** For each field the place of its name in `#names`. */
  readonly #indexes: readonly number[];
  readonly #prefixes: readonly Buffer[];
  readonly #typeNames: readonly Buffer[];
  readonly #inner: readonly (ObjectWriter | GraphQLError | undefined)[];
  readonly #spans: Int32Array;

  constructor(private readonly fields: readonly StoredField[]) {
    const names = [...new Set(fields.flatMap((field) => (field.kind === "typename" ? [] : field.property)))];
    this.#names = names.map((name) => Buffer.from(name));
    this.#indexes = fields.map((field) => (field.kind === "typename" ? -1 : names.indexOf(field.property)));
    this.#prefixes = fields.map((field, i) => Buffer.from(memberPrefix(field.responseName, i)));
    this.#typeNames = fields.map((field) => Buffer.from(field.kind === "typename" ? `"${field.typeName}"` : ""));
    this.#inner = fields.map((field) => {
      if (field.kind !== "object") return undefined;
      return field.members instanceof GraphQLError ? field.members : new ObjectWriter(field.members);
    });
    this.#spans = new Int32Array(names.length * 2);
  }

  /** Looks up what {@link writeValue} writes, in the properties of a row. */
  findIn(json: Uint8Array, work: RowWork): void {
    work.find(json, this.#names, this.#spans);
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
    else if (json[start] !== OPEN_BRACE) out.bytes(NULL);
    else if (inner instanceof ObjectWriter) inner.#writeObject(json, start, out);
    else out.failed(inner);
  }

  #writeObject(json: Uint8Array, start: number, out: JsonBytes): void {
    findMembers(json, start, this.#names, this.#spans);
    if (this.fields.length === 0) out.byte(OPEN_BRACE);
    for (let field = 0; field < this.fields.length; field++) {
      out.bytes(this.#prefixes[field] as Buffer);
      this.writeValue(field, json, out);
    }
    out.byte(125);
  }
}
