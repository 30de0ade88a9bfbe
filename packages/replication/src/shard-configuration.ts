import { isDeepStrictEqual } from "node:util";

/** A copy of a shard: `node/id`. The id is random and kept in the copy's store, so an empty disk is another copy. */
export type CopyName = string;

/** Who holds a shard, as the MetaStore has it beside the class. It is changed by compare-and-set on `version`. */
export interface ShardConfiguration {
  /** Grows by one with every change. */
  readonly version: number;
  /** Grows whenever somebody becomes primary, the same copy after a restart included. */
  readonly epoch: number;
  readonly primary: CopyName;
  /** Which opening of the primary's store made this epoch; "": nobody has begun it yet. */
  readonly claim: string;
  /** Everything acknowledged is on each of them. The primary is one. */
  readonly inSync: readonly CopyName[];
  /**
   * Learners that were in sync when fewer than `minInSync` were left. Nothing has been acknowledged since, so they may become
   * primary too (Kafka's KIP-966, "eligible leader replicas").
   */
  readonly eligible: readonly CopyName[];
  /** They follow, count for nothing and answer nothing. */
  readonly learners: readonly CopyName[];
  /** With fewer copies in sync, writes are refused. */
  readonly minInSync: number;
}

/** With so many copies in sync writes are taken: one of two, two of three. */
export function minInSyncOf(factor: number): number {
  return Math.ceil(factor / 2);
}

/** Of a shard that was just made: all copies are empty, hence in sync. The first one becomes primary. */
export function initialConfiguration(copies: readonly CopyName[]): ShardConfiguration {
  const [primary] = copies;
  if (primary === undefined) throw new Error("a shard without a copy");
  return {
    ...{ version: 1, epoch: 1, primary, claim: "", inSync: copies, eligible: [], learners: [] },
    minInSync: minInSyncOf(copies.length),
  };
}

export function nodeOf(copy: CopyName): string {
  return copy.slice(0, copy.indexOf("/"));
}

export function copiesOf({ inSync, learners }: ShardConfiguration): readonly CopyName[] {
  return [...inSync, ...learners];
}

/** Of whom else the primary needs a lease: the store, when somebody may take over whom it does not ask. */
export const STORE = "store";

/** Whose leases the primary needs: of the other nodes that may take its place, and of the store where those are not asked. */
export function needsOf({ primary, inSync, eligible }: ShardConfiguration): readonly string[] {
  const nodes = inSync.filter((copy) => copy !== primary).map(nodeOf);
  return eligible.length === 0 ? nodes : [...nodes, STORE];
}

/**
 * The primary opens its store again, or begins an epoch that was handed to it. When it cannot tell whether all that it holds is
 * acknowledged, it may answer what eligible copies lack: they are eligible no more.
 */
export function claimed(of: ShardConfiguration, claim: string, isTailKnown: boolean): ShardConfiguration {
  const eligible = isTailKnown ? of.eligible : [];
  return { ...of, version: of.version + 1, epoch: of.epoch + 1, claim, eligible };
}

/** The same with another version: whatever was proposed before comes too late. */
export function touched(of: ShardConfiguration): ShardConfiguration {
  return { ...of, version: of.version + 1 };
}

/** All copies have to be made again before one of them may take over from the primary. */
export function withoutEligible(of: ShardConfiguration, copy: CopyName): ShardConfiguration {
  return { ...of, version: of.version + 1, eligible: without(of.eligible, copy) };
}

/**
 * Without `out`, which become learners. Those that have all that was acknowledged stay eligible while nothing can be, unless the
 * primary may answer what they lack (`isTailKnown`, see `claimed`).
 */
export function takenOut(of: ShardConfiguration, out: readonly CopyName[], isTailKnown: boolean): ShardConfiguration {
  const inSync = of.inSync.filter((copy) => !out.includes(copy));
  const eligible = inSync.length >= of.minInSync || !isTailKnown ? [] : [...of.eligible, ...out];
  return { ...of, version: of.version + 1, inSync, eligible, learners: [...of.learners, ...out] };
}

/** With `copy`, a learner that has caught up. */
export function admitted(of: ShardConfiguration, copy: CopyName): ShardConfiguration {
  const inSync = [...of.inSync, copy];
  const eligible = inSync.length >= of.minInSync ? [] : without(of.eligible, copy);
  return { ...of, version: of.version + 1, inSync, eligible, learners: without(of.learners, copy) };
}

/** The primary gives its place to another copy in sync, which begins the epoch by claiming it. */
export function handedOver(of: ShardConfiguration, to: CopyName): ShardConfiguration {
  return { ...of, version: of.version + 1, epoch: of.epoch + 1, primary: to, claim: "" };
}

export interface Promotion {
  readonly copy: CopyName;
  readonly claim: string;
  /** Others that hold exactly what `copy` holds. */
  readonly equal: readonly CopyName[];
  /** Whether all that `copy` holds is known to be acknowledged: then the others that were in sync lack nothing of it. */
  readonly isTailKnown: boolean;
}

/** `copy`, which was in sync or eligible, takes the place of a primary that is silent. */
export function promoted(of: ShardConfiguration, { copy, claim, equal, isTailKnown }: Promotion): ShardConfiguration {
  const inSync = [copy, ...equal];
  const learners = copiesOf(of).filter((one) => !inSync.includes(one));
  const complete = [...of.inSync, ...of.eligible];
  const eligible = inSync.length >= of.minInSync || !isTailKnown ? [] : complete.filter((one) => !inSync.includes(one));
  return { ...of, version: of.version + 1, epoch: of.epoch + 1, primary: copy, claim, inSync, eligible, learners };
}

/** Without a copy whose disk is gone, or that finds itself incomplete: `lost` is not the only one in sync. */
export function withdrawn(of: ShardConfiguration, lost: CopyName, by?: CopyName): ShardConfiguration {
  const inSync = without(of.inSync, lost);
  const learners = by === undefined ? without(of.learners, lost) : [...without(of.learners, lost), by];
  const isPrimary = of.primary === lost;
  return {
    ...of,
    version: of.version + 1,
    epoch: of.epoch + (isPrimary ? 1 : 0),
    primary: isPrimary ? (inSync[0] ?? "") : of.primary,
    claim: isPrimary ? "" : of.claim,
    inSync,
    // What it lacked is acknowledged by nobody: the others that were complete stay so.
    eligible: without(of.eligible, lost),
    learners,
  };
}

/**
 * The primary's node lives, and cannot open it: `to`, which is in sync or eligible and says that it is open, takes its place. All that was
 * acknowledged stays on the primary, which catches up when it is open.
 */
export function steppedBack(of: ShardConfiguration, to: CopyName): ShardConfiguration {
  const { primary } = of;
  const others = without(of.inSync, primary);
  const inSync = others.includes(to) ? [to, ...without(others, to)] : [to];
  const eligible = inSync.length >= of.minInSync ? [] : [...without(of.eligible, to), primary];
  const learners = [...without(of.learners, to), primary];
  return { ...of, version: of.version + 1, epoch: of.epoch + 1, primary: to, claim: "", inSync, eligible, learners };
}

/** A place on a node for one more copy, `node/`; the node makes the store, and puts its name there by `withdrawn`. */
export function withLearner(of: ShardConfiguration, copy: CopyName): ShardConfiguration {
  return { ...of, version: of.version + 1, learners: [...of.learners, copy] };
}

export function withoutLearner(of: ShardConfiguration, copy: CopyName): ShardConfiguration {
  return {
    ...of,
    version: of.version + 1,
    learners: without(of.learners, copy),
    eligible: without(of.eligible, copy),
  };
}

/** What a change may never do, whoever proposes it; undefined when it may be committed. */
export function configurationFault(before: ShardConfiguration, after: ShardConfiguration): string | undefined {
  if (after.version !== before.version + 1) return `version ${after.version} does not follow ${before.version}`;
  if (after.epoch < before.epoch) return `epoch ${after.epoch} is below ${before.epoch}`;
  if (after.epoch > before.epoch + 1) return `epoch ${after.epoch} skips one after ${before.epoch}`;
  if (after.primary !== before.primary && after.epoch === before.epoch) return "another primary without a new epoch";
  if (!after.inSync.includes(after.primary)) return `primary '${after.primary}' is not in sync`;
  const copies = copiesOf(after);
  if (new Set(copies).size !== copies.length) return "a copy stands twice";
  if (after.eligible.some((copy) => !after.learners.includes(copy))) return "an eligible copy is no learner";
  if (after.eligible.length > 0 && after.inSync.length >= after.minInSync) return "eligible beside enough in sync";
  const complete = [...before.inSync, ...before.eligible];
  if (after.primary !== before.primary && !complete.includes(after.primary)) {
    return `primary '${after.primary}' was neither in sync nor eligible`;
  }
  const wereComplete = after.eligible.every((copy) => complete.includes(copy));
  return wereComplete ? undefined : "an eligible copy was never in sync";
}

/** Proposes for the coordinators: places for copies, what nobody else may. */
export const PLACEMENT = "";

/** The same of a change that node `by` proposes: by the role that its copy has. */
export function proposalFault(before: ShardConfiguration, after: ShardConfiguration, by: string): string | undefined {
  const fault = configurationFault(before, after);
  if (fault !== undefined || by === PLACEMENT) return fault;
  const isOwn = (copy: CopyName) => nodeOf(copy) === by;
  const known = copiesOf(before);
  const next = copiesOf(after);
  const [lost] = known.filter(isOwn);
  const [made] = next.filter(isOwn);
  if (lost === undefined || made === undefined) return `node '${by}' has no copy of the shard`;
  if (after.minInSync !== before.minInSync) return `node '${by}' may not change minInSync`;
  const gone = known.filter((copy) => !next.includes(copy));
  const added = next.filter((copy) => !known.includes(copy));
  if (gone.length !== added.length || ![...gone, ...added].every(isOwn)) {
    return `node '${by}' replaces more than its own copy`;
  }
  const complete = [...before.inSync, ...before.eligible];
  const mayAdmit = isOwn(before.primary) ? before.learners : [];
  if (after.inSync.some((copy) => !complete.includes(copy) && !mayAdmit.includes(copy))) {
    return `node '${by}' takes in a copy as in sync, which its primary alone may`;
  }
  if (isOwn(before.primary) || (after.primary !== before.primary && isOwn(after.primary))) return undefined;
  const isChange = lost !== made || complete.includes(lost);
  const isWithdrawal = isChange && isDeepStrictEqual({ ...after }, { ...withdrawn(before, lost, made) });
  return isWithdrawal ? undefined : `node '${by}' is not primary, and changes more than its own copy`;
}

function without(copies: readonly CopyName[], copy: CopyName): readonly CopyName[] {
  return copies.filter((one) => one !== copy);
}
