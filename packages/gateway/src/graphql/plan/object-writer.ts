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

/** A field, and what writes it. */
interface Member {
  readonly prefix: Buffer;
  /** The place of its name among all; -1 for the name of the type. */
  readonly index: number;
  readonly typeName: Buffer;
  readonly inner: ObjectWriter | GraphQLError | undefined;
}

/** Writes some members of a stored JSON object in the order of a selection. */
export class ObjectWriter {
  readonly #members: readonly Member[];
  readonly #names: readonly Buffer[];
  readonly #spans: Int32Array;

  constructor(fields: readonly StoredField[]) {
    const names = [...new Set(fields.flatMap((field) => (field.kind === "typename" ? [] : field.property)))];
    this.#names = names.map((name) => Buffer.from(name));
    this.#spans = new Int32Array(names.length * 2);
    this.#members = fields.map((field, i) => {
      const isName = field.kind === "typename";
      const members = field.kind === "object" ? field.members : undefined;
      return {
        prefix: Buffer.from(memberPrefix(field.responseName, i)),
        index: isName ? -1 : names.indexOf(field.property),
        typeName: Buffer.from(isName ? `"${field.typeName}"` : ""),
        inner: members === undefined || members instanceof GraphQLError ? members : new ObjectWriter(members),
      };
    });
  }

  /** Looks up what {@link writeValue} writes, in the properties of a row. */
  findIn(json: Uint8Array, work: RowWork): void {
    work.find(json, this.#names, this.#spans);
  }

  writeValue(field: number, json: Uint8Array, out: JsonBytes): void {
    const { index, typeName, inner } = this.#members[field] as Member;
    if (index < 0) {
      out.bytes(typeName);
      return;
    }
    const start = this.#spans[index * 2] as number;
    if (start < 0) out.bytes(NULL);
    else if (inner === undefined) out.copy(json, start, this.#spans[index * 2 + 1] as number);
    else if (json[start] !== OPEN_BRACE) out.bytes(NULL);
    else if (inner instanceof ObjectWriter) inner.#writeObject(json, start, out);
    else out.failed(inner);
  }

  #writeObject(json: Uint8Array, start: number, out: JsonBytes): void {
    findMembers(json, start, this.#names, this.#spans);
    if (this.#members.length === 0) out.byte(OPEN_BRACE);
    for (const [field, { prefix }] of this.#members.entries()) {
      out.bytes(prefix);
      this.writeValue(field, json, out);
    }
    out.byte(125);
  }
}
