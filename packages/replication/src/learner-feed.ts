import type { Commit } from "./commit.js";
import type { CopyCore } from "./copy-core.js";
import type { CopyEvent, CopyMessage } from "./copy-messages.js";
import { cutTable, epochAt, type JournalPosition, lastCommon, START } from "./journal-position.js";
import type { CopyName } from "./shard-configuration.js";
import { NEVER } from "./timing.js";

/** So many commits wait for a learner. */
const QUEUED_COMMITS_MAX = 100;

export interface FeedOptions {
  readonly copy: CopyName;
  readonly session: string;
  readonly epoch: number;
  readonly hello: Extract<CopyMessage, { type: "hello" }>;
  /** Everything in one message: what the copy holds must not be half changed. */
  readonly isWhole: boolean;
}

/**
 * How a learner catches up, seen from the primary: the current rows of all documents that one of the two changed after the last
 * entry that both have, then the commits that came meanwhile. While more come than are queued, the rows of what they have changed
 * follow in another round. One message is under way at a time.
 */
export class LearnerFeed {
  readonly #core: CopyCore;
  readonly #options: FeedOptions;
  readonly #common: JournalPosition;
  readonly isFull: boolean;
  /** What is asked of the learner, until it has answered. */
  #asked: CopyMessage | undefined;
  #askedAt = 0;
  #index = 0;
  /** Where the journal ended when the rows of this round were listed: the learner's will end there. */
  #startEnd: JournalPosition | undefined;
  /** The rows of this round are those of documents that changed after it. */
  #after: number;
  #rounds = 1;
  /** Commits that came since are not queued. */
  #needsRound = false;
  #isOver = false;
  /** All rows of this round have been read. */
  #areRead = false;
  #end: JournalPosition = START;
  #queued: Commit[] = [];
  isOverfull = false;
  waitingSince: number;

  constructor(core: CopyCore, options: FeedOptions) {
    this.#core = core;
    this.#options = options;
    const { end, epochs, base } = options.hello;
    const sequence = Math.min(core.state.end.sequence, end.sequence);
    const isLoose = core.is("journals are compared by sequence alone");
    this.#common = isLoose
      ? { epoch: epochAt(core.state.epochs, sequence), sequence }
      : lastCommon(core.state, { end, epochs });
    const reach = core.is("catches up from a journal that was cut") ? 0 : Math.max(core.reach, base);
    // Who has nothing gets everything, with what a driver sends before all rows.
    const hasNothing = this.#common.sequence === 0 && core.state.end.sequence > 0 && !options.isWhole;
    this.isFull = hasNothing || this.#common.sequence < reach;
    this.#after = this.#common.sequence;
    this.waitingSince = core.now;
  }

  /** The journal is needed from there on: until the documents that changed have been listed, and for the next round. */
  get pinsFrom(): number {
    if (this.#isOver) return NEVER;
    if (this.#startEnd !== undefined) return this.#startEnd.sequence;
    return this.#sendsAll ? NEVER : this.#after;
  }

  get #sendsAll(): boolean {
    return this.isFull && this.#rounds === 1;
  }

  get session(): string {
    return this.#options.session;
  }

  /** Which opening of the learner's store is fed. */
  get claim(): string {
    return this.#options.hello.claim;
  }

  /** Where the learner's journal ends when all rows are there. */
  get end(): JournalPosition {
    return this.#end;
  }

  /** The commits that follow `end`. */
  get queued(): readonly Commit[] {
    return this.#queued.filter(({ end }) => end.sequence > this.#end.sequence);
  }

  /** Whether a learner that says to be in `session` is in this one, or has hardly been asked. What it writes may take long. */
  hears(session: string | undefined): boolean {
    const { now, timing } = this.#core;
    if (session === this.#options.session) {
      if (this.#asked?.type === "rows") this.waitingSince = now;
      return true;
    }
    return this.#asked?.type === "begin" && now < this.#askedAt + timing.resendMs;
  }

  begin(): void {
    const { copy, session, epoch, hello } = this.#options;
    const changes = hello.end.sequence - this.#common.sequence;
    if (changes > 0) this.#core.effects.push({ type: "takesBack", copy, changes });
    const { claim, number } = hello;
    this.#ask({ type: "begin", epoch, session, claim, number, common: this.isFull ? START : this.#common });
  }

  queue(commit: Commit): void {
    this.#queued.push(commit);
    if (this.#queued.length <= (this.#core.options.queuedCommitsMax ?? QUEUED_COMMITS_MAX)) return;
    this.#queued.shift();
    // What comes before the rows are listed will be among them.
    if (this.#startEnd === undefined) return;
    if (this.#options.isWhole || (this.#asked?.type === "rows" && this.#asked.last !== undefined))
      this.isOverfull = true;
    else this.#needsRound = true;
  }

  begun({ session, documents }: Extract<CopyMessage, { type: "begun" }>): void {
    if (session !== this.#options.session || this.#asked?.type !== "begin") return;
    this.#asked = undefined;
    const taken = this.#core.is("what a copy has too much is not rolled back") ? [] : documents;
    this.#openRows(taken);
  }

  #openRows(documents: readonly string[]): void {
    const { session, isWhole, copy: to } = this.#options;
    // The learner has nothing to answer until the rows are sent.
    this.waitingSince = NEVER;
    const isFull = this.#sendsAll;
    this.#core.effects.push({ type: "openRows", session, to, after: this.#after, isFull, isWhole, documents });
  }

  /** What has changed since the rows were listed follows. */
  #beginRound(): void {
    if (this.#startEnd === undefined || this.#core.reach > this.#startEnd.sequence) {
      this.isOverfull = true;
      return;
    }
    this.#after = this.#startEnd.sequence;
    this.#startEnd = undefined;
    this.#needsRound = false;
    this.#rounds++;
    this.#openRows([]);
  }

  rows({ session, rows, isLast, end, through }: Extract<CopyEvent, { type: "rows" }>): void {
    if (session !== this.#options.session || this.#asked !== undefined) return;
    if (this.#startEnd === undefined) {
      this.#startEnd = end;
      const [first] = this.#queued;
      if (first !== undefined && first.previous.sequence > end.sequence) {
        if (this.#options.isWhole) this.isOverfull = true;
        this.#needsRound = true;
      }
    }
    this.#areRead = isLast;
    const { epoch } = this.#options;
    const epochs = cutTable(this.#core.state.epochs, this.#startEnd.sequence);
    this.#end = this.#startEnd;
    this.#ask({
      type: "rows",
      epoch,
      session,
      index: this.#index,
      common: this.isFull ? START : this.#common,
      isFull: this.isFull,
      rows,
      last: isLast && !this.#needsRound ? { end: this.#startEnd, epochs, through } : undefined,
    });
  }

  /** True: that were the last ones. */
  rowsDone({ session, index }: Extract<CopyMessage, { type: "rowsDone" }>): boolean {
    const asked = this.#asked;
    if (session !== this.#options.session || asked?.type !== "rows" || asked.index !== index) return false;
    this.#asked = undefined;
    this.#index++;
    this.waitingSince = NEVER;
    this.#isOver = asked.last !== undefined;
    if (this.#isOver) return true;
    if (this.#areRead) this.#beginRound();
    else this.#core.effects.push({ type: "nextRows", session });
    return false;
  }

  resend(): void {
    const { now, timing } = this.#core;
    if (this.#asked === undefined) return;
    if (now >= this.#askedAt + timing.resendMs) this.#send(this.#asked);
    this.#core.wakeAfter(timing.resendMs);
  }

  #ask(message: CopyMessage): void {
    this.#asked = message;
    this.waitingSince = this.#core.now;
    this.#send(message);
  }

  #send(message: CopyMessage): void {
    this.#askedAt = this.#core.now;
    this.#core.send(this.#options.copy, message);
    this.#core.wakeAfter(this.#core.timing.resendMs);
  }
}
