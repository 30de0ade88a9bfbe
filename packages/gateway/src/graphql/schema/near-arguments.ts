import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLString } from "graphql";
import { FloatType } from "./scalars.js";

/** Of a query vector. */
export const VectorType = new GraphQLList(FloatType);

/** The arguments `nearVector` and `nearObject`, with input types of these names. */
export function nearArguments(vectorTypeName: string, objectTypeName: string) {
  return {
    nearVector: {
      type: new GraphQLInputObjectType({
        name: vectorTypeName,
        fields: {
          vector: { type: new GraphQLNonNull(VectorType) },
          certainty: { type: FloatType },
        },
      }),
    },
    nearObject: {
      type: new GraphQLInputObjectType({
        name: objectTypeName,
        fields: { id: { type: GraphQLString }, beacon: { type: GraphQLString }, certainty: { type: FloatType } },
      }),
    },
  };
}
