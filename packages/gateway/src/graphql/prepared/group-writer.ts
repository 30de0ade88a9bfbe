import type { AggregateGroup, PropertyAggregate } from "@shoal/model";
import { TURN_LENGTH } from "../../json/write-in-turns.js";
import { aggregatedValue } from "../aggregate/aggregated-value.js";
import type { PlannedAggregate } from "./aggregate-plan.js";
import type { PlannedConstant } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";

/** A member of an object that is made for the answer. */
export type NamedField<Name extends string> =
  | PlannedConstant
  | { readonly kind: "named"; readonly responseName: string; readonly name: Name };

/** A field of an aggregated property. */
export type PropertyField =
  | PlannedConstant
  | { readonly kind: "value"; readonly responseName: string; readonly field: string }
  | {
      readonly kind: "topOccurrences";
      readonly responseName: string;
      /** Its place among all limits. */
      readonly place: number;
      readonly members: readonly NamedField<"value" | "occurs">[];
    };

/** A field of an aggregated class. */
export type GroupField =
  | PlannedConstant
  | { readonly kind: "meta"; readonly responseName: string; readonly members: readonly NamedField<"count">[] }
  | {
      readonly kind: "groupedBy";
      readonly responseName: string;
      readonly members: readonly NamedField<"path" | "value">[];
    }
  | {
      readonly kind: "property";
      readonly responseName: string;
      /** Its place in the query, -1 when nothing is asked of it. */
      readonly place: number;
      readonly members: readonly PropertyField[];
    };

/** Writes the groups of one class field as JSON. */
export class GroupWriter {
  constructor(private readonly fields: readonly GroupField[]) {}

  /** Yields now and then between two groups. */
  *write(groups: readonly AggregateGroup[], planned: PlannedAggregate, out: JsonBytes): Generator<void, void> {
    const path = JSON.stringify(planned.query.groupBy ?? []);
    let turnEnd = out.length + TURN_LENGTH;
    out.byte(91);
    for (const [i, group] of groups.entries()) {
      if (i > 0) out.byte(44);
      writeObject(this.fields, out, (field) => writeField(field, group, path, planned.topLimits, out));
      if (out.length < turnEnd) continue;
      yield;
      turnEnd = out.length + TURN_LENGTH;
    }
    out.byte(93);
  }
}

function writeField(
  field: Exclude<GroupField, PlannedConstant>,
  { objectCount, groupedBy, properties }: AggregateGroup,
  path: string,
  topLimits: readonly number[],
  out: JsonBytes,
): void {
  if (field.kind === "meta") writeObject(field.members, out, () => out.ascii(String(objectCount)));
  else if (field.kind === "property") {
    const of = properties[field.place];
    writeObject(field.members, out, (member) => writePropertyField(member, of, topLimits, out));
  } else if (groupedBy === undefined) out.ascii("null");
  else writeObject(field.members, out, ({ name }) => out.utf8(name === "path" ? path : JSON.stringify(groupedBy)));
}

function writePropertyField(
  member: Exclude<PropertyField, PlannedConstant>,
  of: PropertyAggregate | undefined,
  topLimits: readonly number[],
  out: JsonBytes,
): void {
  if (member.kind === "value") {
    out.utf8(JSON.stringify(aggregatedValue(of, member.field)));
    return;
  }
  const all = of?.kind === "texts" ? of.topOccurrences : [];
  const count = Math.min(all.length, topLimits[member.place] ?? 0);
  out.byte(91);
  for (let i = 0; i < count; i++) {
    if (i > 0) out.byte(44);
    writeObject(member.members, out, ({ name }) => out.utf8(JSON.stringify(all[i]?.[name])));
  }
  out.byte(93);
}

function writeObject<Field extends { readonly kind: string; readonly responseName: string }>(
  fields: readonly (Field | PlannedConstant)[],
  out: JsonBytes,
  write: (field: Exclude<Field, PlannedConstant>) => void,
): void {
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as Field | PlannedConstant;
    out.ascii(i === 0 ? '{"' : ',"');
    out.ascii(field.responseName);
    out.ascii('":');
    if (isConstant(field)) out.utf8(field.json);
    else write(field as Exclude<Field, PlannedConstant>);
  }
  out.byte(125);
}

function isConstant(field: { readonly kind: string }): field is PlannedConstant {
  return field.kind === "constant";
}
