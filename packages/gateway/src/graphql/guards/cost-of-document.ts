import { ShoalError } from "@shoal/model";
import {
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  getVariableValues,
} from "graphql";
import type { ReadDocument, ReadOptions } from "../plain/read-document.js";
import { answeredTargets } from "../reference-selection.js";
import type { GraphQlRequest } from "../request-body.js";
import { type SelectedFields, type SelectionScope, selectedFields, selectedSubfields } from "../selected-fields.js";
import {
  type FieldCost,
  type PageArguments,
  RequestCost,
  rowsOfAggregate,
  rowsOfExplore,
  rowsOfGet,
} from "./request-cost.js";

/** What the fields of a valid document ask. Those that execution will refuse count without rows. */
export function costOfDocument(request: GraphQlRequest, read: ReadDocument, options: ReadOptions): RequestCost {
  const cost = new RequestCost();
  const definitions = read.operation.variableDefinitions ?? [];
  const { coerced } = getVariableValues(options.schema, definitions, { ...request.variables });
  const root = options.schema.getQueryType();
  if (coerced === undefined || !root) return cost;
  const scope: SelectionScope = { schema: options.schema, fragments: read.fragments, variableValues: coerced };
  const measure = new FieldMeasure(scope, options);
  for (const nodes of selectedNodes(() => selectedFields(scope, root, read.operation.selectionSet))) {
    const name = nodes[0]?.name.value;
    if (name === "Explore") cost.add(measure.explore(root, nodes));
    if (name !== "Get" && name !== "Aggregate") continue;
    const type = getNamedType(root.getFields()[name]?.type) as GraphQLObjectType;
    for (const fieldNodes of selectedNodes(() => selectedSubfields(scope, type, nodes))) {
      if (fieldNodes[0]?.name.value === "__typename") continue;
      cost.add(name === "Get" ? measure.get(type, fieldNodes) : measure.aggregate(type, fieldNodes));
    }
  }
  return cost;
}

/** Nothing where a directive has no condition: execution answers null there, and says why. */
function selectedNodes(select: () => SelectedFields): Iterable<readonly FieldNode[]> {
  try {
    return select().values();
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [];
    throw thrown;
  }
}

const NO_ROWS: FieldCost = { rows: 0, targets: 0 };

class FieldMeasure {
  constructor(
    private readonly scope: SelectionScope,
    private readonly options: ReadOptions,
  ) {}

  get(parent: GraphQLObjectType, nodes: readonly FieldNode[]): FieldCost {
    return this.#measured(parent, nodes, (page, type) => ({
      rows: rowsOfGet(page, this.options.limits),
      targets: answeredTargets(this.scope, type, selectedSubfields(this.scope, type, nodes)),
    }));
  }

  aggregate(parent: GraphQLObjectType, nodes: readonly FieldNode[]): FieldCost {
    return this.#measured(parent, nodes, ({ limit, groupBy }) => ({
      rows: rowsOfAggregate(groupBy !== undefined && groupBy !== null, limit, this.options.limits),
      targets: 0,
    }));
  }

  explore(parent: GraphQLObjectType, nodes: readonly FieldNode[]): FieldCost {
    return this.#measured(parent, nodes, (page) => ({ rows: rowsOfExplore(page, this.options.limits), targets: 0 }));
  }

  #measured(
    parent: GraphQLObjectType,
    nodes: readonly FieldNode[],
    measure: (given: PageArguments & { readonly groupBy?: unknown }, type: GraphQLObjectType) => FieldCost,
  ): FieldCost {
    const [node] = nodes;
    const field = node && parent.getFields()[node.name.value];
    if (node === undefined || field === undefined) return NO_ROWS;
    try {
      const given = getArgumentValues(field, node, this.scope.variableValues);
      return measure(given, getNamedType(field.type) as GraphQLObjectType);
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "internal") throw thrown;
      return NO_ROWS;
    }
  }
}
