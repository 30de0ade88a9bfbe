import type { Commit } from "./commit.js";
import type { JournalPosition } from "./journal-position.js";
import type { LearnerFeed } from "./learner-feed.js";
import type { CopyName } from "./shard-configuration.js";
import { NEVER } from "./timing.js";

/** What a primary knows of another copy. */
export interface Peer {
  readonly copy: CopyName;
  /** Which lead of this epoch it has confirmed; 0: none. */
  led: number;
  /** It gets every commit, and is waited for. */
  isLive: boolean;
  /** It is in sync and its journal ends elsewhere, by what was never acknowledged: it cannot go on from there. */
  isApart: boolean;
  /** What it has not confirmed yet, the first one sent. */
  queue: Commit[];
  match: JournalPosition | undefined;
  /** Since when a result is missing. */
  waitingSince: number;
  sentAt: number;
  /** Which lead was sent last, and when. */
  leadSent: number;
  leadSentAt: number;
  feed: LearnerFeed | undefined;
}

export function newPeer(copy: CopyName): Peer {
  return {
    copy,
    led: 0,
    isLive: false,
    isApart: false,
    queue: [],
    match: undefined,
    waitingSince: NEVER,
    sentAt: Number.NEGATIVE_INFINITY,
    leadSent: 0,
    leadSentAt: Number.NEGATIVE_INFINITY,
    feed: undefined,
  };
}
