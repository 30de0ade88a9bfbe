import { type ExploreQuery, writeShortBeacon } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import type { GraphQLFieldResolver } from "graphql";
import { shortestFloat32 } from "../../json/float32.js";
import type { GraphQlWire } from "../answer.js";
import { moduleSearchesOf } from "../module-values.js";
import { type NearArguments, nearObjectOf, nearVectorOf } from "./near-arguments.js";
import type { PlainContext } from "./plain-row.js";

/** Coerced arguments; `null` and absent mean the same. */
interface ExploreArguments extends NearArguments {
  readonly limit?: number | null;
  readonly offset?: number | null;
}

/** Answers `Explore` by one query. */
export function resolveExplore(
  query: QueryService,
  wire: GraphQlWire,
  searches: readonly string[],
): GraphQLFieldResolver<unknown, PlainContext, ExploreArguments> {
  return async (_source, args, context) => {
    const moduleSearches = moduleSearchesOf(args, searches);
    const explore: ExploreQuery = {
      nearVector: nearVectorOf(args),
      nearObject: nearObjectOf(args),
      ...(moduleSearches.length === 0 ? {} : { moduleSearches }),
      limit: args.limit ?? undefined,
      offset: args.offset ?? undefined,
    };
    const rows = await query.explore(explore, context.request);
    return rows.map(({ id, className, certainty }) => ({
      beacon: writeShortBeacon(wire.beaconScheme, id),
      className,
      certainty: Number.isNaN(certainty) ? null : shortestFloat32(certainty),
    }));
  };
}
