import type { EnabledModules, SearchArgument } from "@shoal/module-api";
import { type FieldNode, type GraphQLObjectType, type GraphQLSchema, getVariableValues } from "graphql";
import { selectedProperties } from "../aggregate/selected-properties.js";
import type { GraphQlWire } from "../answer.js";
import type { GraphQlLimits } from "../limits.js";
import type { ReadDocument } from "../plain/read-document.js";
import { answeredTargets, selectedReferences } from "../reference-selection.js";
import type { GraphQlRequest } from "../request-body.js";
import {
  additionalNodes,
  fieldNames,
  rowFieldsOf,
  type SelectedFields,
  type SelectionScope,
  selectedFields,
  selectedSubfields,
} from "../selected-fields.js";
import type { WhereReading } from "../where/read-where.js";
import { AggregateCall } from "./aggregate-call.js";
import { AggregatePlan } from "./aggregate-plan.js";
import { LiteralBindings } from "./bind-literals.js";
import { constantField, eachField, objectTypeOf, type PlannedConstant } from "./compile-fields.js";
import { compileGroup } from "./compile-groups.js";
import { compileRow } from "./compile-rows.js";
import { compileWhere } from "./compile-where.js";
import { ExploreCall, type ExploredField, ExplorePlan } from "./explore-call.js";
import { GetCall } from "./get-call.js";
import { GetPlan } from "./get-plan.js";
import { GroupWriter } from "./group-writer.js";
import type { RequestLifter } from "./lift-request.js";
import { AdditionalPlans, SearchPlans } from "./module-plans.js";
import type { PlannedCall } from "./planned-call.js";
import { RowWriter } from "./row-writer.js";

/** A constant text, or what a call answers. */
export type PlannedField = PlannedConstant | PlannedCall;

/** A member of `data`: the same, or a `Get` or `Aggregate` with its fields. */
export type PlannedRoot =
  | PlannedField
  | { readonly kind: "object"; readonly responseName: string; readonly fields: readonly PlannedField[] };

/** What plans are made with. */
export interface CompileParts {
  readonly schema: GraphQLSchema;
  readonly limits: GraphQlLimits;
  readonly wire: GraphQlWire;
  readonly where: WhereReading;
  readonly modules: EnabledModules;
  /** The search arguments of Explore that modules answer. */
  readonly exploreSearches: ReadonlyMap<string, SearchArgument>;
}

/**
 * Compiles a request for its template, or undefined when requests of this template cannot be answered without
 * graphql-js: introspection, several operations, and literals in places where their kind does not settle whether they are
 * valid.
 */
export function compileQuery(
  parts: CompileParts,
  request: GraphQlRequest,
  read: ReadDocument,
  lifter: RequestLifter,
): readonly PlannedRoot[] | undefined {
  if (read.operationCount !== 1) return undefined;
  const { schema } = parts;
  const definitions = read.operation.variableDefinitions ?? [];
  const { coerced } = getVariableValues(schema, definitions, { ...request.variables });
  const bindings = LiteralBindings.of(lifter, read.document, read.operation, request.variables);
  const root = schema.getQueryType();
  if (coerced === undefined || bindings === undefined || !root) return undefined;
  const scope: SelectionScope = { schema, fragments: read.fragments, variableValues: coerced };
  const planned = new QueryCompiler(parts, scope, bindings).root(
    root,
    selectedFields(scope, root, read.operation.selectionSet),
  );
  return bindings.areAllUsed ? planned : undefined;
}

/** Every method answers undefined for what cannot be compiled. */
class QueryCompiler {
  constructor(
    private readonly parts: CompileParts,
    private readonly scope: SelectionScope,
    private readonly bindings: LiteralBindings,
  ) {}

  root(type: GraphQLObjectType, selected: SelectedFields): readonly PlannedRoot[] | undefined {
    return eachField<PlannedRoot>(selected, (responseName, field, nodes) => {
      const name = field.name.value;
      if (name === "__typename") return constantField(responseName, type.name);
      const inner = objectTypeOf(type, name);
      if (inner === undefined) return undefined;
      if (name === "Explore") return this.explore(inner, responseName, field, nodes);
      if (name !== "Get" && name !== "Aggregate") return undefined;
      const fields = this.classes(name, inner, selectedSubfields(this.scope, inner, nodes));
      return fields && { kind: "object", responseName, fields };
    });
  }

  private classes(
    root: "Get" | "Aggregate",
    type: GraphQLObjectType,
    selected: SelectedFields,
  ): readonly PlannedField[] | undefined {
    return eachField<PlannedField>(selected, (responseName, field, nodes) => {
      const name = field.name.value;
      if (name === "__typename") return constantField(responseName, type.name);
      const classType = objectTypeOf(type, name);
      if (classType === undefined) return undefined;
      const classFields = selectedSubfields(this.scope, classType, nodes);
      return root === "Get"
        ? this.get(classType, classFields, responseName, field)
        : this.aggregate(classType, classFields, responseName, field);
    });
  }

  private get(
    type: GraphQLObjectType,
    selected: SelectedFields,
    responseName: string,
    field: FieldNode,
  ): GetCall | undefined {
    const additionalType = objectTypeOf(type, "_additional");
    if (additionalType === undefined) return undefined;
    const additional = selectedSubfields(this.scope, additionalType, additionalNodes(selected));
    const selection = {
      className: field.name.value,
      fields: rowFieldsOf(fieldNames(selected), fieldNames(additional)),
      references: selectedReferences(this.scope, type, selected),
      answeredTargets: answeredTargets(this.scope, type, selected),
    };
    const where = compileWhere("Get", field, this.scope, this.bindings, this.parts.where);
    const definition = this.parts.where.classOf(field.name.value);
    if (definition === undefined) return undefined;
    const { modules } = this.parts;
    const names = modules.argumentsOf(definition);
    const searches = SearchPlans.of(names, modules.textTransformer !== undefined, field.arguments, this.bindings);
    const added = new AdditionalPlans(modules.additionalOf(definition), this.bindings);
    const rows = compileRow(this.scope, type, selected, added);
    if (rows === undefined || searches === null) return undefined;
    const plan = GetPlan.of(selection, field.arguments, this.bindings, where, { names, searches, additional: added });
    if (plan === undefined) return undefined;
    return new GetCall(responseName, plan, new RowWriter(rows, plan.isNear ? "hit" : "listed"), this.parts.limits);
  }

  private aggregate(
    type: GraphQLObjectType,
    selected: SelectedFields,
    responseName: string,
    field: FieldNode,
  ): AggregateCall | undefined {
    const definition = this.parts.where.classOf(field.name.value);
    if (definition === undefined) return undefined;
    const properties = selectedProperties(this.scope, definition, type, selected);
    const where = compileWhere("Aggregate", field, this.scope, this.bindings, this.parts.where);
    const plan = AggregatePlan.of(field.name.value, properties, field.arguments, this.bindings, where);
    const fields = plan && compileGroup(this.scope, definition, plan, type, selected);
    if (plan === undefined || fields === undefined) return undefined;
    return new AggregateCall(responseName, plan, new GroupWriter(fields), this.parts.limits);
  }

  private explore(
    type: GraphQLObjectType,
    responseName: string,
    field: FieldNode,
    nodes: readonly FieldNode[],
  ): ExploreCall | undefined {
    const { wire, limits, modules, exploreSearches } = this.parts;
    const autocorrect = modules.textTransformer !== undefined;
    const plan = ExplorePlan.of(field.arguments, this.bindings, exploreSearches, autocorrect);
    const fields = eachField<ExploredField>(selectedSubfields(this.scope, type, nodes), (inner, { name }) => ({
      responseName: inner,
      name: name.value === "__typename" ? undefined : (name.value as ExploredField["name"]),
    }));
    return plan && fields && new ExploreCall(responseName, plan, fields, wire.beaconScheme, limits);
  }
}
