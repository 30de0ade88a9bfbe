import { type BeaconScheme, type ExploreQuery, writeShortBeacon } from "@shoal/model";
import type { ExploreRow } from "@shoal/query";
import { GraphQLError, type GraphQLObjectType } from "graphql";
import { rowsOfExplore } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import {
  type AskedField,
  type CompileParts,
  type CompileScope,
  eachFieldBelow,
  type Selection,
} from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";
import { moduleSearchesOf } from "./module-values.js";
import { type NearArguments, nearObjectOf, nearVectorOf } from "./near-arguments.js";
import { type BoundCall, type PlannedCall, plannedCall, writeList } from "./planned-call.js";

/** Coerced arguments; `null` and absent mean the same. */
interface ExploreArguments extends NearArguments {
  readonly limit?: number | null;
  readonly offset?: number | null;
}

/** What the field asks and answers whatever its arguments are. */
interface ExploreShape {
  /** Of all search arguments that modules answer. */
  readonly searches: readonly string[];
  readonly fields: Selection<{ readonly responseName: string; readonly name: string }>;
  readonly typeName: string;
  readonly scheme: BeaconScheme;
  readonly limits: GraphQlLimits;
}

/** `Explore`. Fails as the field does when it cannot be asked. */
export function compileExplore(
  { exploreSearches, limits, wire }: CompileParts,
  scope: CompileScope,
  type: GraphQLObjectType,
  field: AskedField,
): PlannedCall {
  const fields = eachFieldBelow(scope, type, field.nodes, (responseName, { name }) => ({
    responseName,
    name: name.value,
  }));
  const searches = [...exploreSearches.keys()];
  const shape = { searches, fields, typeName: type.name, scheme: wire.beaconScheme, limits };
  return plannedCall(field, [], bindExplore(shape));
}

function bindExplore(shape: ExploreShape) {
  return (args: ExploreArguments): BoundCall => {
    const moduleSearches = moduleSearchesOf(args, shape.searches);
    const explore: ExploreQuery = {
      nearVector: nearVectorOf(args),
      nearObject: nearObjectOf(args),
      ...(moduleSearches.length === 0 ? {} : { moduleSearches }),
      limit: args.limit ?? undefined,
      offset: args.offset ?? undefined,
    };
    return {
      cost: { rows: rowsOfExplore(explore, shape.limits), targets: 0 },
      run: async (query, context) => {
        const rows = await query.explore(explore, context);
        return (out) => writeList(rows, out, (row) => void writeRow(row, shape, out));
      },
    };
  };
}

function writeRow({ id, className, certainty }: ExploreRow, shape: ExploreShape, out: JsonBytes): void {
  const { fields, typeName, scheme } = shape;
  if (fields instanceof GraphQLError) {
    out.failed(fields);
    return;
  }
  if (fields.length === 0) out.byte(123);
  for (const [i, { responseName, name }] of fields.entries()) {
    out.ascii(`${i === 0 ? "{" : ","}"${responseName}":`);
    if (name === "certainty") out.float32(certainty);
    else if (name === "beacon") out.ascii(`"${writeShortBeacon(scheme, id)}"`);
    else out.ascii(`"${name === "className" ? className : typeName}"`);
  }
  out.byte(125);
}
