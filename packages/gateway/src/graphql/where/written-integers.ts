import { JsonNumber } from "@shoal/model";
import { type FieldNode, Kind, type ValueNode } from "graphql";

/**
 * A coerced value of the argument `name` with the integers beyond 2^53 that stand in the text as they are written there, so
 * that messages show them so. Those of variables stay the nearest float64.
 */
export function withWrittenIntegers(coerced: unknown, name: string, nodes: readonly FieldNode[]): unknown {
  const node = nodes[0]?.arguments?.find((argument) => argument.name.value === name)?.value;
  return node === undefined ? coerced : written(coerced, node);
}

function written(coerced: unknown, node: ValueNode): unknown {
  if (Array.isArray(coerced)) {
    // One value stands for a list of it.
    const nodes = node.kind === Kind.LIST ? node.values : [node];
    return coerced.map((item, i) => (nodes[i] === undefined ? item : written(item, nodes[i])));
  }
  if (node.kind === Kind.INT) {
    return typeof coerced === "number" && !Number.isSafeInteger(coerced) ? new JsonNumber(node.value) : coerced;
  }
  if (node.kind !== Kind.OBJECT || typeof coerced !== "object" || coerced === null) return coerced;
  const members: Record<string, unknown> = { ...coerced };
  for (const { name, value } of node.fields) {
    if (Object.hasOwn(members, name.value)) members[name.value] = written(members[name.value], value);
  }
  return members;
}
