import { type BeaconScheme, type ExploreQuery, writeShortBeacon } from "@shoal/model";
import type { ExploreRow } from "@shoal/query";
import type { GraphQLObjectType } from "graphql";
import { shortestFloat32 } from "../../json/float32.js";
import { rowsOfExplore } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { AskedField, CompileParts, CompileScope } from "./compile-fields.js";
import { compileJson, type JsonSelection, writeJson } from "./json-selection.js";
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
  readonly selection: JsonSelection;
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
  const selection = compileJson(scope, type, field.nodes);
  const shape = { searches: [...exploreSearches.keys()], selection, scheme: wire.beaconScheme, limits };
  return plannedCall(field, [], bindExplore(shape));
}

function bindExplore({ searches, selection, scheme, limits }: ExploreShape) {
  return (args: ExploreArguments): BoundCall => {
    const moduleSearches = moduleSearchesOf(args, searches);
    const explore: ExploreQuery = {
      nearVector: nearVectorOf(args),
      nearObject: nearObjectOf(args),
      ...(moduleSearches.length === 0 ? {} : { moduleSearches }),
      limit: args.limit ?? undefined,
      offset: args.offset ?? undefined,
    };
    return {
      cost: { rows: rowsOfExplore(explore, limits), targets: 0 },
      run: async (query, context) => {
        const rows = await query.explore(explore, context);
        return (out) => writeList(rows, out, (row) => void writeJson(answered(row, scheme), selection, out));
      },
    };
  };
}

function answered({ id, className, certainty }: ExploreRow, scheme: BeaconScheme) {
  return { beacon: writeShortBeacon(scheme, id), className, certainty: shortestFloat32(certainty) };
}
