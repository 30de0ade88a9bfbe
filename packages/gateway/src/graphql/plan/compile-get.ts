import {
  type AdditionalRequest,
  checkWhere,
  type GetQuery,
  type Grouping,
  type ReferenceSelection,
  type RowFields,
  ShoalError,
} from "@shoal/model";
import type { GetRow } from "@shoal/query";
import type { FieldNode } from "graphql";
import { rowsOfGet } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import {
  type ClassField,
  type CompileParts,
  type CompileScope,
  type GivenField,
  objectTypeOf,
} from "./compile-fields.js";
import { compileRow } from "./compile-rows.js";
import { type BoundCall, type PlannedCall, plannedCall } from "./planned-call.js";
import { readWhere, type WhereReading } from "./read-where.js";
import { selectedReferences } from "./reference-selection.js";
import { RowWriter } from "./row-writer.js";
import { additionalRequest, isSearch, keyOfRequest, type SearchArguments, searchOf } from "./search-arguments.js";
import { nodesByField, rowFieldsOf, selectedSubfields } from "./selected-fields.js";

/** Coerced arguments of a class field; `null` and absent mean the same. */
interface GetArguments extends SearchArguments {
  readonly where?: object | null;
  readonly group?: { readonly type?: Grouping["type"] | null; readonly force: number } | null;
}

/** What a class field asks and answers whatever its arguments are. */
interface GetShape {
  readonly className: string;
  readonly fields: RowFields;
  readonly references: readonly ReferenceSelection[];
  /** The names of what modules are asked for in `_additional`. */
  readonly added: readonly string[];
  readonly rows: RowWriter;
  readonly where: WhereReading;
  readonly limits: GraphQlLimits;
}

/** `Get.<Class>`. Fails as the field does when it cannot be asked. */
export function compileGet(parts: CompileParts, scope: CompileScope, field: ClassField): PlannedCall {
  const { definition, type, nodes } = field;
  const args: GetArguments = field.given;
  const selected = selectedSubfields(scope, type, nodes);
  const byField = nodesByField(selected);
  const additional = selectedSubfields(scope, objectTypeOf(type, "_additional"), byField.get("_additional") ?? []);
  const added: GivenField[] = [];
  const rowFields = compileRow(scope, type, selected, added);
  const shape: GetShape = {
    className: definition.class,
    fields: rowFieldsOf(byField.keys(), nodesByField(additional)),
    references: selectedReferences(scope, type, selected),
    added: added.map(({ node }) => node.name.value),
    rows: new RowWriter(rowFields, isSearch(args) ? "hit" : "listed"),
    where: parts.where,
    limits: parts.limits,
  };
  return plannedCall(field, added, bindGet(shape));
}

/** What lives as long as the plan holds the shape alone, here and where other calls are bound. */
function bindGet(shape: GetShape) {
  return (args: GetArguments, addedArguments: readonly object[], node?: FieldNode): BoundCall => {
    const where = readWhere(args.where, node, shape.className, shape.where, checkWhere);
    const group = groupingOf(args.group);
    const get: GetQuery = {
      className: shape.className,
      ...searchOf(args),
      fields: shape.fields,
      ...(where === undefined ? {} : { where }),
      ...(group === undefined ? {} : { group }),
      ...(shape.added.length === 0 ? {} : { additional: requestsOf(shape.added, addedArguments) }),
      ...(shape.references.length === 0 ? {} : { references: shape.references }),
    };
    return {
      cost: { rows: rowsOfGet(get, shape.limits), targets: shape.rows.returnedTargets },
      run: async (query, context) => {
        const { asked, places } = askedOnce(get);
        const rows = await query.get(asked, context);
        const written = places === undefined ? rows : rows.map((row) => withEachPlace(row, places));
        return (out) => shape.rows.write(written, out);
      },
    };
  };
}

function requestsOf(names: readonly string[], given: readonly object[]): readonly AdditionalRequest[] {
  return names.map((name, i) => additionalRequest(name, given[i] ?? {}));
}

/** The query with each request to modules once; `places`, unless all differ, tells which answer belongs to each request. */
function askedOnce(get: GetQuery): { readonly asked: GetQuery; readonly places?: readonly number[] } {
  const { additional = [] } = get;
  if (additional.length < 2) return { asked: get };
  const keys = additional.map(keyOfRequest);
  const first = [...new Set(keys)];
  if (first.length === keys.length) return { asked: get };
  return {
    asked: { ...get, additional: additional.filter((_, at) => keys.indexOf(keys[at] as string) === at) },
    places: keys.map((key) => first.indexOf(key)),
  };
}

function withEachPlace(row: GetRow, places: readonly number[]): GetRow {
  return { ...row, additional: places.map((place) => row.additional?.[place] ?? null) };
}

/** The type may be left out by the schema, but not here (reference-graphql 2.2). */
function groupingOf(group: GetArguments["group"]): Grouping | undefined {
  if (!group) return undefined;
  if (group.type) return { type: group.type, force: group.force };
  throw new ShoalError("invalid", "group.type is missing: it must be closest or merge");
}
