import { JsonNumber } from "@shoal/model";
import { GraphQLError, GraphQLScalarType, Kind, print } from "graphql";

const LEAST_INT64 = -(2n ** 63n);
const MOST_INT64 = 2n ** 63n - 1n;

/** `Int` as the reference means it: 64-bit on the way in, any stored integer on the way out. */
export const IntType = new GraphQLScalarType({
  name: "Int",
  description: "A 64-bit integer.",
  serialize: numberOnly("Int"),
  parseValue: (value) => {
    if (typeof value === "number" && Number.isInteger(value) && isInt64(BigInt(value))) return value;
    if (value instanceof JsonNumber && isInt64Literal(value.literal)) return value.toNumber();
    throw new GraphQLError(`Int cannot represent non 64-bit integer value: ${shown(value)}`);
  },
  parseLiteral: (node) => {
    if (node.kind === Kind.INT && isInt64Literal(node.value)) return Number(node.value);
    throw new GraphQLError(`Int cannot represent non 64-bit integer value: ${print(node)}`, { nodes: node });
  },
});

/** `Float`: float64; what only parses to an infinity is refused. */
export const FloatType = new GraphQLScalarType({
  name: "Float",
  description: "A 64-bit floating point number.",
  serialize: numberOnly("Float"),
  parseValue: (value) => {
    const number = value instanceof JsonNumber ? value.toNumber() : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
    throw new GraphQLError(`Float cannot represent non numeric value: ${shown(value)}`);
  },
  parseLiteral: (node) => {
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) {
      const value = Number(node.value);
      if (Number.isFinite(value)) return value;
    }
    throw new GraphQLError(`Float cannot represent non numeric value: ${print(node)}`, { nodes: node });
  },
});

function shown(value: unknown): string {
  return value instanceof JsonNumber ? value.literal : JSON.stringify(value);
}

/** `literal` is an integer as JSON and GraphQL write it. */
function isInt64Literal(literal: string): boolean {
  return literal.length <= 20 && isInt64(BigInt(literal));
}

function isInt64(value: bigint): boolean {
  return value >= LEAST_INT64 && value <= MOST_INT64;
}

function numberOnly(name: string): (value: unknown) => unknown {
  return (value) => {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw new GraphQLError(`${name} cannot represent value: ${JSON.stringify(value)}`);
  };
}
