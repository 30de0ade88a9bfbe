import type { QueryService } from "@shoal/query";
import { type GraphQLFieldConfig, GraphQLList, GraphQLString } from "graphql";
import type { GraphQlWire } from "../answer.js";
import type { PlainContext } from "../plain/plain-row.js";
import { resolveExplore } from "../plain/resolve-explore.js";
import { nearArguments } from "./near-arguments.js";
import { plainObject } from "./object-types.js";
import { FloatType, IntType } from "./scalars.js";

const ExploreType = plainObject("ExploreObj", {
  beacon: GraphQLString,
  className: GraphQLString,
  certainty: FloatType,
});

const ARGUMENTS = {
  limit: { type: IntType },
  offset: { type: IntType },
  ...nearArguments("ExploreNearVectorInpObj", "ExploreNearObjectInpObj"),
};

/** The root field `Explore` (reference-graphql 3). */
export function exploreField(query: QueryService, wire: GraphQlWire): GraphQLFieldConfig<unknown, PlainContext> {
  return { type: new GraphQLList(ExploreType), args: ARGUMENTS, resolve: resolveExplore(query, wire) };
}
