import { parseShortBeacon, ShoalError } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from "graphql";
import { memberOf, type PlainContext, PlainRow } from "./plain-row.js";

const TARGET_FIELDS = { properties: true, vector: false, extras: false } as const;

/**
 * The targets of a reference property (reference-graphql 2.5): those whose class has a fragment, in the order of the
 * fragments, inside one in stored order; dangling references vanish; null when nothing is left.
 */
export async function resolveReferences(
  stored: unknown,
  query: QueryService,
  { request }: PlainContext,
  info: GraphQLResolveInfo,
): Promise<readonly PlainRow[] | null> {
  const classNames = fragmentTypes(info);
  if (classNames.includes("Beacon")) {
    throw new ShoalError("invalid", "retrieving cross-refs by beacon is not supported yet - coming soon!");
  }
  if (!Array.isArray(stored)) return null;
  const targets = await Promise.all(
    stored.map((reference: unknown) => {
      const beacon = memberOf(reference, "beacon");
      return typeof beacon === "string"
        ? query.objectById(parseShortBeacon(beacon).id, TARGET_FIELDS, request)
        : undefined;
    }),
  );
  const rows = classNames.flatMap((className) =>
    targets.flatMap((target) =>
      target?.className === className ? new PlainRow(target.id, target, undefined, true) : [],
    ),
  );
  return rows.length === 0 ? null : rows;
}

/** Classes that have a fragment in the selection, in the order of the fragments. */
function fragmentTypes(info: GraphQLResolveInfo): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<string>();
  const walk = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const type = selection.typeCondition?.name.value;
        if (type !== undefined) names.add(type);
        walk(type === undefined || isUnion(info, type) ? selection.selectionSet : undefined);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD && !seen.has(selection.name.value)) {
        seen.add(selection.name.value);
        const fragment = info.fragments[selection.name.value];
        if (fragment === undefined) continue;
        names.add(fragment.typeCondition.name.value);
        walk(isUnion(info, fragment.typeCondition.name.value) ? fragment.selectionSet : undefined);
      }
    }
  };
  for (const node of info.fieldNodes) walk(node.selectionSet);
  return [...names].filter((name) => !isUnion(info, name));
}

function isUnion(info: GraphQLResolveInfo, name: string): boolean {
  const type = info.schema.getType(name);
  return type !== undefined && "getTypes" in type;
}
