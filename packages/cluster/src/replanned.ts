import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { SchemaView } from "./schema-view.js";

/** Whether the schema is another one than `planned`, once every change that was answered so far is known here. */
export async function isOutdated(
  view: Pick<SchemaView, "refresh" | "snapshot">,
  planned: SchemaSnapshot,
  context: RequestContext,
): Promise<boolean> {
  await view.refresh(context);
  return view.snapshot !== planned;
}

/**
 * Does `work`, which plans with the schema as this process knows it; once more when it failed in a way that an old schema
 * explains (`isDoubtful`) and there is a newer one. `isDoubtful` is asked again with the newer schema.
 */
export async function replanned<T>(
  view: Pick<SchemaView, "refresh" | "snapshot">,
  context: RequestContext,
  work: () => Promise<T>,
  isDoubtful: (failure: ShoalError, planned: SchemaSnapshot, now: SchemaSnapshot) => boolean,
): Promise<T> {
  const planned = view.snapshot;
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ShoalError) || !EXPLAINED.has(thrown.code)) throw thrown;
    if (!(await isOutdated(view, planned, context)) || !isDoubtful(thrown, planned, view.snapshot)) throw thrown;
    return work();
  }
}

/** What is answered about a class that the schema lacks while nobody can tell whether it was made meanwhile. */
export function unknownWhetherThere(className: string): ShoalError {
  const message =
    `class '${className}' is not in the schema that this process knows, and no coordinator can be reached, which would know ` +
    "whether it was made meanwhile";
  return new ShoalError("unavailable", message, { retryAfterSeconds: 1 });
}

/** What a request fails with that names something which the schema has no more, or not yet. */
const EXPLAINED: ReadonlySet<ShoalError["code"]> = new Set(["invalid", "notFound", "unavailable", "conflict"]);

/**
 * Whether the class of that name is gone, another one, or placed elsewhere: its shards were looked for in vain. One that was only sent
 * again, as by a coordinator that has restarted, is the same: what failed may have been carried out there.
 */
export function isReplaced(className: string | undefined, planned: SchemaSnapshot, now: SchemaSnapshot): boolean {
  const [before, after] = [planned, now].map(({ classes }) =>
    classes.find(({ definition }) => definition.class === className),
  );
  if (before === undefined || after === before) return false;
  return after?.classId !== before.classId || !isDeepStrictEqual(after.sharding.shards, before.sharding.shards);
}
