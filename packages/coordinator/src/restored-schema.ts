import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { MetaChange, MetaState } from "./meta-store.js";
import { putLostConfigurations } from "./shard-configurations.js";
import { putDrop } from "./stored-drops.js";
import { goOnFrom, historyOf, putVersion } from "./stored-history.js";
import { putClass, readSchema } from "./stored-schema.js";

/**
 * What makes an empty store that of the cluster whose schema is brought back: its id, its classes, and versions that go on
 * from it, so that every process which knows this schema or an earlier one takes the new ones for later. `storeId`: of the store.
 */
export function restoredSchema(snapshot: SchemaSnapshot, storeId: string, state: MetaState): readonly MetaChange[] {
  const { clusterId, historyId, version, classes, former = [], drops = [] } = snapshot;
  if (clusterId === undefined) {
    throw new ShoalError(
      "invalid",
      "this schema does not say which cluster it is of: it was stored by an earlier version",
    );
  }
  const there = readSchema(storeId, state).classes.size;
  if (there > 0) {
    const message = `the coordinator's store has ${there} classes: a schema is brought back into an empty store`;
    throw new ShoalError("conflict", message);
  }
  const own = historyOf(storeId, state).historyId;
  return [
    ...goOnFrom(clusterId, { historyId: own, former: [...former, { historyId, upTo: version }] }, version),
    ...classes.map((record, at) => putClass({ record, order: at + 1 })),
    ...drops.map(putDrop),
    ...putLostConfigurations(classes),
    putVersion(version + state.revision + 1),
  ];
}
