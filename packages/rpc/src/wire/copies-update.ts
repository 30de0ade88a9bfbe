import type { ShardConfiguration } from "@shoal/replication";
import type { CopiesSnapshot, CopyDecision, CopyProposal, ShardKey } from "../copy-service.js";
import { unreadable } from "./byte-reader.js";
import { applyEntries, type EntriesUpdate, entriesBetween } from "./entries-update.js";
import { list, members, readJson, slashed, text, whole } from "./json-shape.js";
import { jsonBytes } from "./record-codec.js";

/** More than any shard has: more would only cost memory. */
const COPIES_MAX = 1_000;
const copyNames = list(slashed, COPIES_MAX);

const CONFIGURATION = members({
  version: whole(1),
  epoch: whole(1),
  primary: slashed,
  claim: text,
  inSync: copyNames,
  eligible: copyNames,
  learners: copyNames,
  minInSync: whole(1),
});

/** Fails with `invalid`, as what follows, on what is no configuration of a shard: the member is named. */
export function readConfiguration(json: Buffer): ShardConfiguration {
  return readJson(json, "configuration", CONFIGURATION) as ShardConfiguration;
}

export function readShardKey(key: string): ShardKey {
  slashed(key, "shard");
  return key;
}

interface WireDecision {
  readonly isAccepted: boolean;
  readonly currentJson: Buffer | undefined;
}

/** What became of each proposal. Fails with `internal` when there are more or fewer. */
export function readDecisions(
  decisions: readonly WireDecision[],
  proposals: readonly CopyProposal[],
): readonly CopyDecision[] {
  if (decisions.length !== proposals.length) {
    throw unreadable(`${decisions.length} decisions about ${proposals.length} proposals`);
  }
  return proposals.map(({ shard }, at) => {
    const { isAccepted = false, currentJson } = decisions[at] ?? {};
    return { shard, isAccepted, current: currentJson && readConfiguration(currentJson) };
  });
}

interface Step {
  readonly before: CopiesSnapshot | undefined;
  readonly after: CopiesSnapshot;
  readonly update: EntriesUpdate;
}

/** Most watchers come from the same snapshot to the same one: what leads there is made once for all. */
let last: Step | undefined;

export function copiesBetween(before: CopiesSnapshot | undefined, after: CopiesSnapshot): EntriesUpdate {
  if (last?.before === before && last?.after === after) return last.update;
  const update = entriesBetween(before && entriesOf(before), entriesOf(after));
  last = { before, after, update };
  return update;
}

/**
 * The snapshot after an update. What is as it was stays the same object, also where everything is said again; what is as in
 * `other` becomes the one there.
 */
export function applyCopies(
  before: CopiesSnapshot | undefined,
  update: EntriesUpdate,
  other?: CopiesSnapshot,
): CopiesSnapshot {
  const { entries, ...position } = applyEntries(before && entriesOf(before), update, ({ key, valueJson }) => {
    const known = [before, other].map((snapshot) => snapshot?.configurations.get(key));
    return known.find((one) => one && valueJson.equals(jsonBytes(one))) ?? readConfiguration(valueJson);
  });
  return { ...position, configurations: entries };
}

function entriesOf({ historyId, version, configurations }: CopiesSnapshot) {
  return { historyId, version, entries: configurations };
}
