import type { CopyCore } from "./copy-core.js";
import { type CopyEvent, type CopyMessage, INCOMPLETE } from "./copy-messages.js";
import { comparePositions, cutTable, epochAt, type JournalPosition, withEpoch } from "./journal-position.js";
import { type CopyName, needsOf, nodeOf, promoted, type ShardConfiguration, withdrawn } from "./shard-configuration.js";

interface Lead {
  readonly epoch: number;
  readonly lead: number;
  readonly run: string;
  readonly needs: ReadonlyMap<string, number>;
}

/** What a copy that is not primary does: it follows, catches up, and takes over from a primary that is silent. */
export class Follower {
  readonly #core: CopyCore;
  #lead: Lead | undefined;
  /** The session in which it catches up, and the next rows that it takes. */
  #session: { readonly id: string; readonly epoch: number; index: number; hasAll: boolean } | undefined;
  /** The hello that the last session answered. */
  #begunBy = 0;
  /** The last session whose rows all came. */
  #caughtUp: string | undefined;
  #heardAt = 0;
  #hellos = 0;
  #saidHelloAt = Number.NEGATIVE_INFINITY;
  /** What the others have answered about the ends of their journals. */
  #ends:
    | { readonly version: number; readonly askedAt: number; readonly of: Map<CopyName, JournalPosition> }
    | undefined;

  constructor(core: CopyCore) {
    this.#core = core;
  }

  /** Whether it takes the place of its primary, or may have done so. */
  get isTakingOver(): boolean {
    const { configuration, maybes, name } = this.#core;
    return maybes.some(({ primary }) => primary === name && configuration?.primary !== name);
  }

  /** Why a search cannot be answered now; undefined when it can. */
  searchFault(): string | undefined {
    const core = this.#core;
    const { configuration, leases, now } = core;
    const lead = this.#lead;
    if (configuration === undefined || !configuration.inSync.includes(core.name)) return "the copy is not in sync";
    if (lead === undefined || lead.epoch !== configuration.epoch) return "no primary leads the copy";
    if (core.is("searches without a lease")) return undefined;
    const primary = nodeOf(configuration.primary);
    if (leases.held(primary, now) === undefined || leases.runOf(primary) !== lead.run) return "the copy holds no lease";
    for (const node of new Set([...lead.needs.keys(), ...needsOf(configuration)])) {
      if (node === core.node) continue;
      const number = leases.heldThrough(primary, node, now);
      if (number === undefined || number !== lead.needs.get(node)) return `its primary may hold no lease of '${node}'`;
    }
    return undefined;
  }

  configurationChanged(): void {
    this.#ends = undefined;
    const { configuration, state, name } = this.#core;
    if (configuration?.inSync.includes(name)) this.#session = undefined;
    if (this.#lead !== undefined && configuration !== undefined && this.#lead.epoch < configuration.epoch) {
      this.#lead = undefined;
      this.#session = undefined;
    }
    if (configuration !== undefined && state.acceptedEpoch < configuration.epoch)
      this.#saidHelloAt = Number.NEGATIVE_INFINITY;
  }

  /** Does what is due; after every event. */
  step(): void {
    const core = this.#core;
    const { configuration, now, timing, name } = core;
    if (configuration === undefined || core.hasFailed) return;
    const isInSync = configuration.inSync.includes(name);
    if (isInSync && !core.isComplete && configuration.inSync.length > 1) {
      if (core.mayPropose()) core.propose(withdrawn(configuration, name, name));
      return;
    }
    if (!this.isTakingOver) core.release(nodeOf(configuration.primary));
    this.#decide();
    if (isInSync && this.#lead !== undefined) return;
    const quietMs = this.#session === undefined ? timing.resendMs : timing.helloMs;
    const due = Math.max(this.#saidHelloAt, this.#session === undefined ? 0 : this.#heardAt) + quietMs;
    if (now >= due) this.#sayHello(configuration);
    core.wakeAfter(now >= due ? quietMs : due - now);
  }

  #sayHello({ primary, version }: ShardConfiguration): void {
    const core = this.#core;
    const { end, epochs, base } = core.state;
    const { claim } = core.options;
    this.#saidHelloAt = core.now;
    this.#hellos++;
    const session = this.#session?.id;
    core.send(primary, { type: "hello", version, claim, number: this.#hellos, session, end, epochs, base });
  }

  /** The node of the primary is silent. */
  silent(): void {
    const core = this.#core;
    const { configuration, name, now, timing } = core;
    if (configuration === undefined || core.hasFailed || this.#ends !== undefined) return;
    if (![...configuration.inSync, ...configuration.eligible].includes(name)) return;
    if (!core.isComplete) return;
    this.#ends = { version: configuration.version, askedAt: now, of: new Map() };
    this.#askEnds();
    core.wakeAfter(timing.askMs);
  }

  #askEnds(): void {
    const version = this.#core.configuration?.version ?? 0;
    for (const copy of this.#others()) this.#core.send(copy, { type: "askEnd", version, isOpen: false });
  }

  /** Its primary is not open, and gives its place away to whoever answers: not to a copy that has met no other one yet. */
  #mayNotReplace(from: CopyName): boolean {
    const { configuration, waitsForOthers } = this.#core;
    return configuration !== undefined && nodeOf(from) === nodeOf(configuration.primary) && waitsForOthers;
  }

  message(from: CopyName, message: CopyMessage): void {
    const { configuration } = this.#core;
    switch (message.type) {
      case "askEnd":
        if (!message.isOpen && this.#mayNotReplace(from)) {
          this.#askEnds();
        } else if (this.#core.isComplete && !this.#core.hasFailed) {
          this.#core.send(from, { type: "end", version: message.version, end: this.#core.state.end });
        }
        return;
      case "end":
        if (message.version !== configuration?.version) return;
        this.#core.hasMetOthers = true;
        if (message.version === this.#ends?.version) this.#ends.of.set(from, message.end);
        return;
      case "revoke":
        this.#revoked(from, message);
        return;
      case "lead":
        this.#led(from, message);
        return;
      case "append":
        this.#append(from, message);
        return;
      case "committed":
        if (message.epoch === this.#lead?.epoch) this.#knowCommitted(message.sequence);
        return;
      case "begin":
        this.#begin(from, message);
        return;
      case "rows":
        this.#rows(from, message);
        return;
      default:
      // A result to what this copy asked as a primary that it is no more.
    }
  }

  changes({ session, documents }: Extract<CopyEvent, { type: "changes" }>): void {
    const { configuration } = this.#core;
    if (session !== this.#session?.id || configuration === undefined) return;
    this.#core.send(configuration.primary, { type: "begun", session, documents });
  }

  #others(): readonly CopyName[] {
    const { configuration, name } = this.#core;
    if (configuration === undefined) return [];
    const { inSync, eligible, primary } = configuration;
    return [...inSync, ...eligible].filter((copy) => copy !== name && copy !== primary);
  }

  #decide(): void {
    const core = this.#core;
    const { configuration, leases, name, now, state, timing } = core;
    const ends = this.#ends;
    if (ends === undefined || configuration === undefined || ends.version !== configuration.version) return;
    const node = nodeOf(configuration.primary);
    const mayEnd = !this.isTakingOver && leases.heardAt(node) + timing.silenceMs > now;
    if (mayEnd) {
      this.#ends = undefined;
      return;
    }
    const areAllThere = this.#others().every((copy) => ends.of.has(copy));
    if (!areAllThere && now < ends.askedAt + timing.askMs) {
      core.wakeAfter(ends.askedAt + timing.askMs - now);
      return;
    }
    const better = [...ends.of].some(([copy, end]) => {
      const order = comparePositions(end, state.end);
      return order > 0 || (order === 0 && copy < name && configuration.inSync.includes(copy));
    });
    if (better && !this.isTakingOver) {
      // That one will propose itself; else the question is asked again.
      if (now >= ends.askedAt + 2 * timing.askMs) this.#ends = undefined;
      else core.wakeAfter(ends.askedAt + 2 * timing.askMs - now);
      return;
    }
    if (core.waitsForOthers) {
      // Another one may have come meanwhile.
      if (now >= ends.askedAt + 2 * timing.askMs) this.#ends = undefined;
      return;
    }
    // What is being written now is part of what it takes over.
    if (core.isWriting || !core.mayPropose()) return;
    core.withhold(node);
    const complete = [...configuration.inSync, ...configuration.eligible];
    const equal = [...ends.of].filter(([copy, end]) => complete.includes(copy) && core.areEqual(end, state.end));
    core.propose(
      promoted(configuration, {
        copy: name,
        claim: core.options.claim,
        equal: equal.map(([copy]) => copy),
        isTailKnown: core.isTailKnown,
      }),
    );
  }

  #knowCommitted(sequence: number): void {
    if (sequence <= this.#core.state.end.sequence) this.#core.committed = Math.max(this.#core.committed, sequence);
  }

  #revoked(from: CopyName, { last, version }: Extract<CopyMessage, { type: "revoke" }>): void {
    const { leases, options } = this.#core;
    leases.confirmRevoked(options.shard, last);
    if (this.#lead !== undefined && leases.isRevoked(options.shard, this.#lead)) this.#lead = undefined;
    this.#core.send(from, { type: "revoked", version });
  }

  /** Whether a primary of `epoch` is followed; the sender hears that there is a later one otherwise. */
  #follows(from: CopyName, epoch: number): boolean {
    const core = this.#core;
    const { configuration, state } = core;
    const known = Math.max(state.acceptedEpoch, configuration?.epoch ?? 0);
    if (epoch < known || this.isTakingOver) {
      if (configuration !== undefined && epoch < configuration.epoch) {
        core.send(from, { type: "stale", version: configuration.version });
      }
      return false;
    }
    return configuration?.primary === from && configuration.epoch === epoch;
  }

  #led(from: CopyName, message: Extract<CopyMessage, { type: "lead" }>): void {
    const { epoch, lead, run, receiver, needs, committed, start } = message;
    const core = this.#core;
    if (!this.#follows(from, epoch) || core.isWriting || !core.isComplete) return;
    // It is of before a restart, or of before this copy confirmed that it answers nothing.
    if (receiver !== core.leases.run) return;
    if (core.leases.isRevoked(core.options.shard, { epoch, lead })) return;
    // Its disk may have lost the end of its log: the primary sees that in the result.
    const isInSync = core.configuration?.inSync.includes(core.name) === true;
    const isShort = core.state.end.sequence < Math.max(start, isInSync ? committed : 0);
    if (!isShort) core.hasMetOthers = true;
    const isLater = this.#lead === undefined || this.#lead.epoch < epoch || this.#lead.lead < lead;
    if (!isShort && (isLater || this.#lead?.run !== run)) {
      this.#lead = { epoch, lead, run, needs };
    }
    this.#heardAt = core.now;
    this.#knowCommitted(committed);
    const result = () => core.send(from, { type: "led", epoch, lead, end: core.state.end });
    if (core.state.acceptedEpoch >= epoch) result();
    else core.write({ state: { ...core.state, acceptedEpoch: epoch } }, result);
  }

  #append(from: CopyName, { epoch, previous, changes, committed }: Extract<CopyMessage, { type: "append" }>): void {
    const core = this.#core;
    const { state } = core;
    if (!this.#follows(from, epoch) || core.isWriting) return;
    const session = this.#session;
    // While it catches up a commit that comes late would stay when what follows the common entry is rolled back.
    if (session === undefined ? this.#lead?.epoch !== epoch : session.epoch !== epoch || !session.hasAll) return;
    this.#heardAt = core.now;
    const end = { epoch, sequence: previous.sequence + changes.length };
    const isThere =
      state.end.sequence >= end.sequence &&
      core.areEqual(end, { epoch: epochAt(state.epochs, end.sequence), sequence: end.sequence });
    if (isThere) {
      core.send(from, { type: "appended", epoch, session: this.#caughtUp, end });
      return;
    }
    if (!core.areEqual(previous, state.end)) {
      this.#session = undefined;
      core.send(from, { type: "gap", epoch, end: state.end });
      return;
    }
    const epochs = withEpoch(cutTable(state.epochs, previous.sequence), epoch, previous.sequence + 1);
    const entries = { epoch, first: previous.sequence + 1, changes };
    const acceptedEpoch = Math.max(epoch, state.acceptedEpoch);
    core.write({ state: { ...state, end, epochs, base: core.baseAt(end.sequence), acceptedEpoch }, entries }, () => {
      this.#knowCommitted(committed);
      core.send(from, { type: "appended", epoch, session: this.#caughtUp, end });
    });
  }

  #begin(from: CopyName, message: Extract<CopyMessage, { type: "begin" }>): void {
    const { epoch, session, claim, number, common } = message;
    const core = this.#core;
    const { configuration } = core;
    if (!this.#follows(from, epoch) || configuration?.inSync.includes(core.name) || core.isWriting) return;
    if (this.#session?.id !== session) {
      // A session that is over does not begin again: its rows are those that were missing then.
      if (claim !== core.options.claim || number <= this.#begunBy) return;
      this.#begunBy = number;
      this.#session = { id: session, epoch, index: 0, hasAll: false };
    }
    if (this.#session.index > 0) return;
    this.#heardAt = core.now;
    core.effects.push({ type: "listChanges", session, after: common.sequence });
  }

  /** Whether its journal has the entry, and all that follows. */
  #has(entry: JournalPosition): boolean {
    const { base, end, epochs } = this.#core.state;
    const { sequence } = entry;
    if (sequence < base || sequence > end.sequence) return false;
    return this.#core.areEqual(entry, { epoch: epochAt(epochs, sequence), sequence });
  }

  #rows(from: CopyName, message: Extract<CopyMessage, { type: "rows" }>): void {
    const core = this.#core;
    const { state } = core;
    const { epoch, session, index, common, isFull, rows, last } = message;
    const own = this.#session;
    if (!this.#follows(from, epoch) || own?.id !== session || core.isWriting) return;
    this.#heardAt = core.now;
    if (index < own.index) {
      core.send(from, { type: "rowsDone", session, index });
      return;
    }
    if (index > own.index) return;
    if (index === 0 && !isFull && !this.#has(common)) {
      // The primary goes by a hello that is not true any more.
      this.#session = undefined;
      this.#saidHelloAt = Number.NEGATIVE_INFINITY;
      return;
    }
    const cut = {
      ...state,
      end: common,
      epochs: cutTable(state.epochs, common.sequence),
      base: Math.min(state.base, common.sequence),
    };
    const next =
      last === undefined
        ? { ...(index === 0 ? cut : state), through: INCOMPLETE }
        : { ...state, end: last.end, epochs: last.epochs, base: last.end.sequence, through: last.through };
    core.committed = -1;
    core.write(
      {
        state: { ...next, acceptedEpoch: Math.max(epoch, state.acceptedEpoch) },
        rows: { rows, cutAfter: common.sequence, isFull: isFull && index === 0 },
      },
      () => {
        own.index = index + 1;
        if (last !== undefined) {
          own.hasAll = true;
          core.hasMetOthers = true;
          this.#caughtUp = session;
        }
        core.send(from, { type: "rowsDone", session, index });
      },
    );
  }
}
