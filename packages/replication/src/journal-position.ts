/** Where a journal ends, or an entry stands: who was primary, and the number of the change. Both 0: the empty journal. */
export interface JournalPosition {
  readonly epoch: number;
  readonly sequence: number;
}

/** Where each epoch of a journal begins, in order. A shard has one primary an epoch, so (epoch, sequence) names one entry. */
export type EpochTable = readonly { readonly epoch: number; readonly first: number }[];

export const START: JournalPosition = { epoch: 0, sequence: 0 };

export function comparePositions(one: JournalPosition, other: JournalPosition): number {
  return one.epoch - other.epoch || one.sequence - other.sequence;
}

export function arePositionsEqual(one: JournalPosition, other: JournalPosition): boolean {
  return one.epoch === other.epoch && one.sequence === other.sequence;
}

/** The epoch of the entry `sequence`; 0 before the first entry. */
export function epochAt(table: EpochTable, sequence: number): number {
  return table.findLast(({ first }) => first <= sequence)?.epoch ?? 0;
}

/** The table after entries from `first` on in `epoch` have been written. */
export function withEpoch(table: EpochTable, epoch: number, first: number): EpochTable {
  return table.at(-1)?.epoch === epoch ? table : [...table, { epoch, first }];
}

export function cutTable(table: EpochTable, end: number): EpochTable {
  return table.filter(({ first }) => first <= end);
}

interface Journal {
  readonly epochs: EpochTable;
  readonly end: JournalPosition;
}

/** The last entry that both journals have: what follows it in either is not in the other. */
export function lastCommon(one: Journal, other: Journal): JournalPosition {
  // Within the same epoch both have the same entries up to the shorter end, so only ends of epochs need to be looked at.
  const shorter = Math.min(one.end.sequence, other.end.sequence);
  const ends = [...one.epochs, ...other.epochs].map(({ first }) => first - 1);
  for (const sequence of [shorter, ...ends.filter((end) => end < shorter).sort((a, b) => b - a)]) {
    const epoch = epochAt(one.epochs, sequence);
    if (epoch === epochAt(other.epochs, sequence)) return { epoch, sequence };
  }
  return START;
}
