import type { ClassDefinition } from "@shoal/model";
import type { EnabledModules, SearchArgument } from "@shoal/module-api";
import { type GraphQLFieldConfig, GraphQLList, GraphQLString } from "graphql";
import { searchArguments } from "./module-types.js";
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

/** The root field `Explore` (reference-graphql 3); modules answer the search arguments that any class has. */
export function exploreField(
  classes: readonly ClassDefinition[],
  modules: EnabledModules,
): GraphQLFieldConfig<unknown, unknown> {
  // Classes are many, their vectorizers few.
  const byVectorizer = new Map(classes.map((definition) => [definition.vectorizer, definition]));
  const searches = new Map<string, SearchArgument>();
  for (const definition of byVectorizer.values()) {
    for (const [name, argument] of modules.argumentsOf(definition)) {
      if (!searches.has(name)) searches.set(name, argument);
    }
  }
  const autocorrect = modules.textTransformer !== undefined;
  return {
    type: new GraphQLList(ExploreType),
    args: { ...searchArguments(searches.values(), "Explore", autocorrect), ...ARGUMENTS },
  };
}
