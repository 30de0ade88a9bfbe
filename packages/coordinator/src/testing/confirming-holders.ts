import type { Ledger } from "../ledger.js";
import { NodeRegistry } from "../node-registry.js";
import { readDrops } from "../stored-drops.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

/** Storage nodes that confirm every drop as soon as they hear of it, until disposed of. */
export function confirmingHolders(ledger: Ledger): Disposable {
  const nodes = new NodeRegistry(ledger, 0);
  return ledger.onState((state) => {
    for (const { classId, holders } of readDrops(state)) {
      // Who loses the result of the store tries again at the next state.
      for (const name of holders) nodes.confirmDropped(name, [classId], CONTEXT).catch(() => undefined);
    }
  });
}
