import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "@shoal/model";
import type { AccessChange, AccessService, AccessSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Etcd takes 127 changes and 1.5 MB at once. */
const CHANGES_MAX = 100;
const BYTES_MAX = 1_000_000;

/**
 * Brings roles, assignments and users back into a store that has none, or a part of them from an attempt that ended. Fails with
 * `conflict` when it has others. `contextOf`: of one call.
 */
export async function restoreAccess(
  { entries, version }: AccessSnapshot,
  access: AccessService,
  contextOf: () => RequestContext,
): Promise<void> {
  const there = await access.current(contextOf());
  for (const [key, value] of there.entries) {
    if (isDeepStrictEqual(entries.get(key), value)) continue;
    const message = `the coordinator's store has roles or users of its own ('${key}'): they are brought back into an empty store`;
    throw new ShoalError("conflict", message);
  }
  const missing = [...entries].filter(([key]) => !there.entries.has(key)).map(([key, value]) => ({ key, value }));
  for (const changes of portions(missing)) {
    await access.change(changes, await access.current(contextOf()), contextOf(), version);
  }
}

function portions(changes: readonly AccessChange[]): readonly (readonly AccessChange[])[] {
  const portions: AccessChange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const change of changes) {
    const more = Buffer.byteLength(change.key) + Buffer.byteLength(JSON.stringify(change.value));
    const last = portions.at(-1);
    if (last === undefined || last.length >= CHANGES_MAX || bytes + more > BYTES_MAX) {
      portions.push([change]);
      bytes = more;
    } else {
      last.push(change);
      bytes += more;
    }
  }
  return portions;
}
