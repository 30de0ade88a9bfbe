import { type BeaconScheme, writeShortBeacon } from "@shoal/model";
import type { ExploreRow } from "@shoal/query";
import type { GraphQLObjectType } from "graphql";
import { shortestFloat32 } from "../../json/float32.js";
import { rowsOfExplore } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { AskedField, CompileParts, CompileScope } from "./compile-fields.js";
import { compileJson, type JsonSelection, writeJson } from "./json-selection.js";
import { type BoundCall, type PlannedCall, plannedCall, writeList } from "./planned-call.js";
import { type SearchArguments, searchOf } from "./search-arguments.js";

/** What the field asks and answers whatever its arguments are. */
interface ExploreShape {
  readonly selection: JsonSelection;
  readonly scheme: BeaconScheme;
  readonly limits: GraphQlLimits;
}

/** `Explore`. Fails as the field does when it cannot be asked. */
export function compileExplore(
  { limits, wire }: CompileParts,
  scope: CompileScope,
  type: GraphQLObjectType,
  field: AskedField,
): PlannedCall {
  const selection = compileJson(scope, type, field.nodes);
  const shape = { selection, scheme: wire.beaconScheme, limits };
  return plannedCall(field, [], bindExplore(shape));
}

function bindExplore({ selection, scheme, limits }: ExploreShape) {
  return (args: SearchArguments): BoundCall => {
    const explore = searchOf(args);
    return {
      cost: { rows: rowsOfExplore(explore, limits), targets: 0 },
      run: async (query, context) => {
        const rows = await query.explore(explore, context);
        return (out) => writeList(rows, out, (row) => void writeJson(resultOf(row, scheme), selection, out));
      },
    };
  };
}

function resultOf({ id, className, certainty }: ExploreRow, scheme: BeaconScheme) {
  return { beacon: writeShortBeacon(scheme, id), className, certainty: shortestFloat32(certainty) };
}
