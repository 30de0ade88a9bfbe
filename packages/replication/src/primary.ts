import type { Commit } from "./commit.js";
import { CommittedNews } from "./committed-news.js";
import type { CopyCore } from "./copy-core.js";
import type { Change, CopyMessage } from "./copy-messages.js";
import { FormerLeases } from "./former-leases.js";
import { comparePositions, withEpoch } from "./journal-position.js";
import { LearnerFeed } from "./learner-feed.js";
import { newPeer, type Peer } from "./peer.js";
import { ReliedLeases } from "./relied-leases.js";
import {
  admitted,
  type CopyName,
  claimed,
  copiesOf,
  handedOver,
  needsOf,
  nodeOf,
  type ShardConfiguration,
  takenOut,
  touched,
  withoutEligible,
} from "./shard-configuration.js";
import { NEVER } from "./timing.js";

/** What the primary of a shard does in one epoch. */
export class Primary {
  readonly #core: CopyCore;
  readonly #epoch: number;
  readonly #peers = new Map<CopyName, Peer>();
  readonly #former: FormerLeases;
  readonly #relied: ReliedLeases;
  readonly #news: CommittedNews;
  #isReady = false;
  /** Where the journal ended when the epoch began. */
  #start = 0;
  /** The learner that is to be in sync next. */
  #candidate: CopyName | undefined;
  #inFlight: (Commit & { isDurable: boolean }) | undefined;
  #handsOver = false;
  /** The others have been asked not to read on account of this one. */
  #isLeaving = false;
  /** Another copy in sync has more than this one. */
  #longest: CopyName | undefined;
  #sessions = 0;

  /** `deposed`: the silent primary, of whose leases this copy's own was one. Undefined: who was primary before is not known. */
  constructor(core: CopyCore, deposed: CopyName | undefined) {
    this.#core = core;
    this.#relied = new ReliedLeases(core);
    this.#former = new FormerLeases(core);
    const { configuration } = core;
    if (configuration === undefined) throw new Error("a primary without a configuration");
    this.#epoch = configuration.epoch;
    this.#news = new CommittedNews(core, this.#epoch);
    if (!this.#isClaimed || this.#isAlone) return;
    for (const copy of copiesOf(configuration)) {
      if (copy === core.name) continue;
      this.#former.add(copy, deposed);
      if (!configuration.inSync.includes(copy)) this.#revoke(copy);
    }
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Why a linear read cannot be answered now; undefined when it can. */
  readFault(): string | undefined {
    const core = this.#core;
    if (!this.#isReady) return "the primary has not begun its epoch";
    return core.is("reads without a lease") ? undefined : (this.#former.fault("readAt") ?? this.#relied.fault());
  }

  /** Why no commit can begin now; undefined when one can. */
  commitFault(): string | undefined {
    const { configuration } = this.#core;
    if (configuration === undefined || this.#handsOver) return "the primary hands over";
    if (this.#inFlight !== undefined || this.#core.isWriting) return "a commit is under way";
    if (configuration.inSync.length < configuration.minInSync && !this.#core.is("acknowledges with too few in sync")) {
      return `${configuration.inSync.length} of ${configuration.minInSync} copies are in sync`;
    }
    return this.readFault();
  }

  /** Whether a commit that may never be acknowledged has changed the document. */
  isUnderWay(document: string): boolean {
    return this.#inFlight?.changes.some((change) => change.document === document) ?? false;
  }

  commit(changes: readonly Change[], workMs: number): void {
    const core = this.#core;
    const { state } = core;
    const previous = state.end;
    const end = { epoch: this.#epoch, sequence: previous.sequence + changes.length };
    const commit = { previous, end, changes, workMs, isDurable: false };
    this.#inFlight = commit;
    this.#news.told();
    for (const peer of this.#peers.values()) {
      if (peer.feed !== undefined && !peer.isLive) peer.feed.queue(commit);
      if (!peer.isLive) continue;
      peer.queue.push(commit);
      if (peer.queue.length === 1) this.#sendAppend(peer);
    }
    const epochs = withEpoch(state.epochs, this.#epoch, previous.sequence + 1);
    const entries = { epoch: this.#epoch, first: previous.sequence + 1, changes };
    const base = core.baseAt(end.sequence);
    core.write({ state: { ...state, end, epochs, base, acceptedEpoch: this.#epoch }, entries }, () => {
      commit.isDurable = true;
    });
    if (core.is("acknowledges before its own write is durable")) commit.isDurable = true;
  }

  handOver(): void {
    this.#handsOver = true;
  }

  /** The primary has another configuration, and is primary of the same epoch in it. */
  configurationChanged(before: ShardConfiguration): void {
    const core = this.#core;
    const { configuration } = core;
    if (configuration === undefined) return;
    // Copies that were to read no more read again.
    this.#isLeaving = false;
    for (const copy of before.inSync.filter((one) => !configuration.inSync.includes(one))) {
      this.#peers.delete(copy);
      if (!copiesOf(configuration).includes(copy)) continue;
      if (core.is("a copy that was taken out is not waited for")) continue;
      this.#former.leaves(copy);
      this.#revoke(copy);
    }
    for (const copy of this.#peers.keys()) if (!copiesOf(configuration).includes(copy)) this.#peers.delete(copy);
  }

  /** Another configuration has come. What is being written does not answer for the commit any more. */
  resign(): void {
    if (this.#inFlight === undefined) return;
    this.#inFlight = undefined;
    this.#core.effects.push({ type: "abandoned" });
  }

  message(from: CopyName, message: CopyMessage): void {
    const { configuration } = this.#core;
    if (configuration === undefined || !this.#isClaimed || !copiesOf(configuration).includes(from)) return;
    const peer = this.#peer(from);
    if (message.type === "hello") this.#hello(peer, message);
    else if (message.type === "led") this.#led(peer, message);
    else if (message.type === "appended") this.#appended(peer, message);
    else if (message.type === "gap") this.#gap(peer, message);
    else if (message.type === "begun") peer.feed?.begun(message);
    else if (message.type === "rowsDone") {
      if (peer.feed?.rowsDone(message) === true) this.#followsLive(peer);
    }
  }

  rows(event: Parameters<LearnerFeed["rows"]>[0]): void {
    for (const { feed } of this.#peers.values()) feed?.rows(event);
  }

  rowsFailed(session: string): void {
    const failed = [...this.#peers.values()].find(({ feed, isLive }) => feed?.session === session && !isLive);
    if (failed !== undefined) this.#peers.delete(failed.copy);
  }

  /** Does what is due; after every event. */
  step(): void {
    const core = this.#core;
    const { configuration } = core;
    if (configuration === undefined || core.hasFailed) {
      if (core.hasFailed && configuration !== undefined) this.#leave(configuration);
      return;
    }
    // What is being written since it was a secondary is part of what it begins with.
    if (!this.#isReady && core.isWriting) return;
    if (!this.#isClaimed) {
      if (this.#isAlone && !core.is("a restarted primary goes on in its epoch")) {
        this.#isReady = true;
        core.committed = core.state.end.sequence;
        // The store may be older than what others know: it was put back from a backup.
      } else if (core.looksForOthers) core.seekOthers();
      else if (core.mayPropose()) core.propose(claimed(configuration, core.options.claim, core.isTailKnown));
      return;
    }
    if (core.state.acceptedEpoch < this.#epoch) {
      // After a restart it would follow whose place it has taken, while the store is not reached.
      if (!core.isWriting) core.write({ state: { ...core.state, acceptedEpoch: this.#epoch } }, () => undefined);
      return;
    }
    this.#former.settle(configuration.inSync, (copy) => (this.#peers.get(copy)?.led ?? 0) > 0);
    if (this.#longest !== undefined && configuration.inSync.includes(this.#longest)) {
      this.#leave(configuration, this.#longest);
      return;
    }
    this.#takeOutSilent(configuration);
    this.#choose(configuration);
    this.#relied.capture(configuration, this.#candidate);
    for (const copy of configuration.inSync) if (copy !== core.name) this.#sendLead(this.#peer(copy));
    if (!this.#isReady && this.#areLed(configuration.inSync, 1)) {
      this.#isReady = true;
      this.#start = core.state.end.sequence;
      core.committed = this.#start;
    }
    for (const peer of this.#peers.values()) this.#resend(peer);
    core.pinnedFrom = Math.min(...[...this.#peers.values()].map(({ feed }) => feed?.pinsFrom ?? NEVER));
    this.#admit(configuration);
    this.#acknowledge();
    this.#news.step(configuration);
    if (this.#handsOver) this.#leave(configuration);
    this.#former.wake();
  }

  get #isClaimed(): boolean {
    const { configuration, options } = this.#core;
    if (this.#core.is("a restarted primary goes on in its epoch")) return configuration?.claim !== "";
    return configuration?.claim === options.claim;
  }

  /** Nobody else has ever seen an entry of this journal that could not be there after a restart. */
  get #isAlone(): boolean {
    const { configuration } = this.#core;
    return configuration !== undefined && copiesOf(configuration).length === 1;
  }

  #peer(copy: CopyName): Peer {
    let peer = this.#peers.get(copy);
    if (peer === undefined) {
      peer = newPeer(copy);
      this.#peers.set(copy, peer);
    }
    return peer;
  }

  /** Everybody whose result a commit needs: in sync by the configuration, or by one that may be made any moment. */
  #required(): ReadonlySet<CopyName> {
    const { configuration, name } = this.#core;
    const maybes = this.#core.is("a change that may still be made is not reckoned with") ? [] : this.#core.maybes;
    const all = [configuration, ...maybes].flatMap((one) => one?.inSync ?? []);
    return new Set(all.filter((copy) => copy !== name));
  }

  /** Its earlier leads count no more; all get a new one. */
  #revoke(copy: CopyName): void {
    this.#core.revoke(copy, { epoch: this.#epoch, lead: this.#relied.lead });
    this.#relied.leadAgain();
  }

  #sendLead(peer: Peer): void {
    const core = this.#core;
    const { configuration, now, timing } = core;
    const { lead, needs } = this.#relied;
    // A copy that is led now would read on after it has confirmed that it does not.
    if (this.#isLeaving) return;
    if (peer.isApart || peer.led === lead || needs === undefined || configuration === undefined) return;
    if (peer.waitingSince === NEVER) peer.waitingSince = now;
    core.wakeAfter(timing.resendMs);
    if (peer.leadSent === lead && now < peer.leadSentAt + timing.resendMs) return;
    peer.leadSent = lead;
    peer.leadSentAt = now;
    const { committed, leases } = core;
    const { version } = configuration;
    const { run } = leases;
    const epoch = this.#epoch;
    const start = this.#isReady ? this.#start : core.state.end.sequence;
    const receiver = leases.runOf(nodeOf(peer.copy)) ?? "";
    core.send(peer.copy, { type: "lead", epoch, lead, needs, run, receiver, committed, version, start });
  }

  #led(peer: Peer, { epoch, lead, end }: Extract<CopyMessage, { type: "led" }>): void {
    const core = this.#core;
    if (epoch !== this.#epoch || lead > this.#relied.lead) return;
    const isFirst = peer.led === 0;
    if (core.configuration?.inSync.includes(peer.copy)) core.hasMetOthers = true;
    peer.led = Math.max(peer.led, lead);
    if (peer.queue.length === 0) peer.waitingSince = NEVER;
    if (!isFirst || peer.isLive || !core.configuration?.inSync.includes(peer.copy)) return;
    const inFlight = this.#inFlight;
    const { previous } = inFlight ?? {};
    if (core.areEqual(end, inFlight?.end ?? core.state.end)) {
      peer.isLive = true;
      peer.match = end;
    } else if (inFlight !== undefined && previous !== undefined && this.#core.areEqual(end, previous)) {
      peer.isLive = true;
      peer.match = end;
      peer.queue = [inFlight];
      this.#sendAppend(peer);
    } else {
      peer.led = 0;
      peer.isApart = true;
      // Who has more goes on with it.
      if (!this.#isReady && comparePositions(end, core.state.end) > 0) this.#longest = peer.copy;
    }
  }

  #areLed(copies: readonly CopyName[], lead: number): boolean {
    return copies.every((copy) => copy === this.#core.name || (this.#peers.get(copy)?.led ?? 0) >= lead);
  }

  #sendAppend(peer: Peer): void {
    const core = this.#core;
    const [commit] = peer.queue;
    if (commit === undefined) return;
    peer.sentAt = core.now;
    if (peer.waitingSince === NEVER) peer.waitingSince = core.now;
    const { previous, changes } = commit;
    core.send(peer.copy, { type: "append", epoch: this.#epoch, previous, changes, committed: core.committed });
    core.wakeAfter(core.timing.resendMs);
  }

  #appended(peer: Peer, { epoch, session, end }: Extract<CopyMessage, { type: "appended" }>): void {
    const [first] = peer.queue;
    // Since it said so it may have gone back, and caught up anew.
    if (!this.#core.configuration?.inSync.includes(peer.copy) && session !== peer.feed?.session) return;
    if (epoch !== this.#epoch || first === undefined || !this.#core.areEqual(first.end, end)) return;
    peer.queue.shift();
    peer.match = end;
    peer.waitingSince = NEVER;
    this.#sendAppend(peer);
  }

  #gap(peer: Peer, { epoch }: Extract<CopyMessage, { type: "gap" }>): void {
    if (epoch !== this.#epoch || !peer.isLive) return;
    if (this.#required().has(peer.copy)) this.#takeOut([peer.copy]);
    else this.#peers.delete(peer.copy);
  }

  #acknowledge(): void {
    const core = this.#core;
    const { configuration } = core;
    const commit = this.#inFlight;
    if (commit === undefined || configuration === undefined || !commit.isDurable) return;
    const required = core.is("acknowledges before the secondaries have answered") ? [] : this.#required();
    for (const copy of required) {
      const match = this.#peers.get(copy)?.match;
      if (match === undefined || !this.#core.areEqual(match, commit.end)) return;
    }
    if (configuration.inSync.length < configuration.minInSync && !core.is("acknowledges with too few in sync")) return;
    if (this.#former.fault("commitAt") !== undefined) return;
    core.committed = commit.end.sequence;
    this.#inFlight = undefined;
    core.effects.push({ type: "committed" });
    this.#news.come();
  }

  /** Takes out who has not answered for long, or gives no lease. A learner says every `responseMs` that it is there. */
  #takeOutSilent(configuration: ShardConfiguration): void {
    const core = this.#core;
    const { leases, name, now, timing } = core;
    const silent = configuration.inSync.filter((copy) => {
      if (copy === name) return false;
      const { waitingSince, isApart, queue } = this.#peer(copy);
      const node = nodeOf(copy);
      const hasNoLease = leases.held(node, now) === undefined && leases.heardAt(node) + timing.leaseMs <= now;
      return isApart || hasNoLease || waitingSince + timing.responseMs + (queue[0]?.workMs ?? 0) <= now;
    });
    if (silent.length > 0 && !core.waitsForOthers) this.#takeOut(silent);
    for (const peer of this.#peers.values()) {
      if (configuration.inSync.includes(peer.copy) || peer.waitingSince + 2 * timing.responseMs > now) continue;
      if (!this.#required().has(peer.copy)) this.#peers.delete(peer.copy);
      // It would be in sync by a change that may still be made: another one decides that it is not.
      else if (core.mayPropose()) core.propose(touched(configuration));
    }
  }

  #takeOut(copies: readonly CopyName[]): void {
    const core = this.#core;
    const { configuration } = core;
    if (configuration === undefined || !core.mayPropose()) return;
    const out = copies.filter((copy) => configuration.inSync.includes(copy));
    if (out.length === 0) return;
    const next = takenOut(configuration, out, this.#isReady || core.isTailKnown);
    if (this.#mayNeed(needsOf(next), next.inSync)) core.propose(next);
  }

  /** Whether those that stay know already that the primary will rely on leases of `needs`; else they get a lead first. */
  #mayNeed(needs: readonly string[], among: readonly CopyName[]): boolean {
    return among.length === 1 || (this.#relied.widen(needs) && this.#areLed(among, this.#relied.lead));
  }

  #hello(peer: Peer, hello: Extract<CopyMessage, { type: "hello" }>): void {
    const core = this.#core;
    const { configuration } = core;
    const { claim, number } = hello;
    const before = this.#hellos.get(peer.copy);
    if (configuration === undefined || (before?.claim === claim && before.number >= number)) return;
    this.#hellos.set(peer.copy, { claim, number });
    if (configuration.inSync.includes(peer.copy)) {
      // It knows of no lead: it was not open when one was sent. After a restart nothing holds that it has confirmed before.
      peer.led = 0;
      peer.leadSentAt = Number.NEGATIVE_INFINITY;
      if (before?.claim !== claim) {
        peer.isLive = false;
        peer.queue = [];
        peer.match = undefined;
        // How it has caught up says nothing any more, nor that it is waited for.
        peer.feed = undefined;
      }
      return;
    }
    if (!this.#isReady || (peer.feed?.claim === claim && peer.feed.hears(hello.session))) return;
    peer.isLive = false;
    peer.queue = [];
    peer.led = 0;
    peer.match = undefined;
    peer.waitingSince = core.now;
    this.#sessions++;
    const session = `${core.options.claim}/${this.#epoch}/${this.#sessions}`;
    const isEligible = configuration.eligible.includes(peer.copy);
    const feed = new LearnerFeed(core, { copy: peer.copy, session, epoch: this.#epoch, hello, isWhole: isEligible });
    if (isEligible && feed.isFull) {
      // What it holds goes: it is eligible no more.
      if (core.mayPropose()) core.propose(withoutEligible(configuration, peer.copy));
      return;
    }
    peer.feed = feed;
    if (this.#inFlight !== undefined) feed.queue(this.#inFlight);
    feed.begin();
  }

  readonly #hellos = new Map<CopyName, { readonly claim: string; readonly number: number }>();

  #followsLive(peer: Peer): void {
    const { feed } = peer;
    if (feed === undefined) return;
    peer.isLive = true;
    peer.match = feed.end;
    peer.queue = [...feed.queued];
    peer.waitingSince = NEVER;
    this.#sendAppend(peer);
  }

  #resend(peer: Peer): void {
    const { now, timing } = this.#core;
    if (peer.feed !== undefined && !peer.isLive) {
      if (peer.feed.isOverfull) {
        this.#peers.delete(peer.copy);
        return;
      }
      peer.waitingSince = peer.feed.waitingSince;
      peer.feed.resend();
      return;
    }
    const [commit] = peer.queue;
    if (commit === undefined) return;
    if (now >= peer.sentAt + timing.resendMs + commit.workMs) this.#sendAppend(peer);
    this.#core.wakeAfter(timing.resendMs);
  }

  /** A learner that has everything is taken into sync; it stays chosen, however far it falls behind, while its node gives its lease. */
  #choose({ learners }: ShardConfiguration): void {
    const core = this.#core;
    const isAtOnce = core.is("a learner counts as in sync at once");
    const isFollowing = (copy: CopyName): boolean => {
      const peer = this.#peers.get(copy);
      const isHeld = core.leases.held(nodeOf(copy), core.now) !== undefined;
      return learners.includes(copy) && isHeld && (peer?.isLive === true || (isAtOnce && peer?.feed !== undefined));
    };
    if (this.#candidate !== undefined && isFollowing(this.#candidate)) return;
    this.#candidate = learners.find((copy) => isFollowing(copy) && (isAtOnce || this.#isUpToDate(copy)));
  }

  #isUpToDate(copy: CopyName): boolean {
    const match = this.#peers.get(copy)?.match;
    return match !== undefined && this.#core.areEqual(match, this.#inFlight?.end ?? this.#core.state.end);
  }

  #admit(configuration: ShardConfiguration): void {
    const core = this.#core;
    const copy = this.#candidate;
    if (copy === undefined || this.#handsOver || !this.#isReady) return;
    this.#sendLead(this.#peer(copy));
    if (!core.is("a learner counts as in sync at once")) {
      if (!this.#relied.covers(copy) || !this.#isUpToDate(copy)) return;
      if (!this.#areLed([...configuration.inSync, copy], this.#relied.lead)) return;
    }
    if (core.isRevoked(copy) && core.mayPropose()) core.propose(admitted(configuration, copy));
  }

  /** Gives its place to another copy in sync, once nobody reads on account of leases that were granted here. */
  #leave(configuration: ShardConfiguration, longest?: CopyName): void {
    const core = this.#core;
    const { now, name } = core;
    const others = configuration.inSync.filter((copy) => copy !== name);
    if (others.length > 0 && this.#inFlight !== undefined && !core.hasFailed) {
      // Such a commit waits for learners, and nobody is taken in while this copy leaves.
      if (configuration.inSync.length < configuration.minInSync) this.#handsOver = false;
      return;
    }
    const to = longest ?? others.find((copy) => core.hasFailed || this.#peers.get(copy)?.queue.length === 0);
    if (to === undefined) {
      this.#handsOver = false;
      this.#isLeaving = false;
      return;
    }
    if (!this.#isLeaving) for (const copy of others) this.#revoke(copy);
    this.#isLeaving = true;
    core.wakeAfter(core.timing.resendMs);
    const isOver = others.every((copy) => core.isRevoked(copy) || now >= core.leases.grantEndsAt(nodeOf(copy)));
    if (isOver && core.mayPropose()) core.propose(handedOver(configuration, to));
  }
}
