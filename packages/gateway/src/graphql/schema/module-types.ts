import type { AdditionalProperty, InputField, InputFields, OutputField, SearchArgument } from "@shoal/module-api";
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  GraphQLString,
} from "graphql";
import { plainObject } from "./object-types.js";
import { FloatType, IntType } from "./scalars.js";

const SCALARS = { String: GraphQLString, Int: IntType, Float: FloatType, Boolean: GraphQLBoolean } as const;

/** The arguments that modules answer; the names of their types have `prefix` behind the module's own. */
export function searchArguments(
  searches: Iterable<SearchArgument>,
  prefix: string,
  autocorrect: boolean,
): GraphQLFieldConfigArgumentMap {
  const args: GraphQLFieldConfigArgumentMap = {};
  for (const { name, typePrefix, input } of searches) {
    args[name] = { type: inputType({ type: input({ autocorrect }) }, typePrefix + prefix) };
  }
  return args;
}

/** Arguments of a field of `_additional`. Only scalars and lists of them: their types need no names. */
export function additionalArguments({ arguments: fields = {} }: AdditionalProperty): GraphQLFieldConfigArgumentMap {
  return inputFields(fields, "");
}

function inputFields(fields: InputFields, prefix: string) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const described = field.description === undefined ? {} : { description: field.description };
      return [name, { ...described, type: inputType(field, prefix) }];
    }),
  );
}

function inputType({ type, list, required }: InputField, prefix: string): GraphQLInputType {
  const named =
    typeof type === "string"
      ? SCALARS[type]
      : new GraphQLInputObjectType({
          name: prefix + type.typeSuffix,
          fields: () => inputFields(type.fields, prefix),
        });
  const whole = list ? new GraphQLList(named) : named;
  return required ? new GraphQLNonNull(whole) : whole;
}

/** The type of a field of `_additional`; `prefix` begins the names of its types. */
export function outputType({ type, list }: OutputField, prefix: string): GraphQLOutputType {
  const named =
    typeof type === "string"
      ? SCALARS[type]
      : plainObject(
          prefix + type.typeSuffix,
          Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, outputType(field, prefix)])),
        );
  return list ? new GraphQLList(named) : named;
}
