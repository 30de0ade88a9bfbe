import type { SeededRandom } from "@shoal/seeded-random";
import { ClosedCopy } from "../closed-copy.js";
import type { CopyBatch, CopyEffect, CopyEvent, CopyMessage } from "../copy-messages.js";
import { type Heartbeat, NodeLeases, type Stamp } from "../node-leases.js";
import { copiesOf, nodeOf, type ShardConfiguration, STORE, withdrawn } from "../shard-configuration.js";
import { ShardCopy } from "../shard-copy.js";
import type { Timing } from "../timing.js";
import type { WrongVariant } from "../wrong-variants.js";
import { SimulatedDisk } from "./simulated-disk.js";

export type NodeMessage =
  | { readonly type: "heartbeat"; readonly heartbeat: Heartbeat }
  | {
      readonly type: "copy";
      readonly shard: string;
      readonly from: string;
      readonly to: string;
      readonly message: CopyMessage;
    };

/** What the rest of the world is to a node. Times are virtual. */
export interface NodeSurroundings {
  readonly timing: Timing;
  readonly random: SeededRandom;
  readonly wrong: WrongVariant | undefined;
  readonly journalKeepEntries: number;
  readonly queuedCommitsMax: number;
  now(): number;
  after(ms: number, run: () => void): void;
  send(from: string, to: string, message: NodeMessage): void;
  /** Compare-and-set; `then` may never be called. */
  propose(
    node: string,
    shard: string,
    next: ShardConfiguration,
    then: (isAccepted: boolean, current: ShardConfiguration) => void,
  ): void;
  /** A linear read of everything; `then` may never be called. */
  read(node: string, then: (all: ReadonlyMap<string, ShardConfiguration | undefined>) => void): void;
  /** This node takes nothing more into a shard whose class was deleted. */
  confirmDropped(node: string, shard: string): void;
  acknowledged(shard: string, disk: SimulatedDisk, copy: ShardCopy): void;
  /** It is durable. */
  wrote(shard: string, disk: SimulatedDisk, batch: CopyBatch): void;
  newId(): string;
}

/** A commit of a client, drafted on the rows of the primary. */
export interface DraftedWrite {
  readonly document: string;
  /** Undefined: deleted. */
  readonly row: string | undefined;
  readonly ended: (outcome: "acknowledged" | "unknown") => void;
}

interface OpenCopy {
  readonly disk: SimulatedDisk;
  readonly machine: ShardCopy;
  writes: readonly DraftedWrite[];
}

const PROPOSAL_MS = 1_000;

/** A storage node: its disks outlive it, everything else is lost when it dies. */
export class SimulatedNode {
  readonly name: string;
  readonly #surroundings: NodeSurroundings;
  readonly disks = new Map<string, SimulatedDisk>();
  readonly #copies = new Map<string, OpenCopy>();
  readonly #closed = new Map<string, ClosedCopy>();
  /** What it has heard of the shards whose copies here are closed. */
  readonly #heard = new Map<string, ShardConfiguration>();
  readonly #peers: readonly string[];
  readonly #clock: { readonly offset: number; readonly rate: number };
  #leases: NodeLeases | undefined;
  /** Grows with each start: what was under way before does not reach it. */
  #run = 0;
  /** While it is stopped everything waits. */
  #pausedUntil = 0;
  writeMs = 2;
  /** Rows that are sent to a copy that catches up. */
  readMs = 5;
  #diskStandsUntil = 0;
  #diskFullUntil = 0;
  failsNextWrite = false;

  constructor(name: string, peers: readonly string[], surroundings: NodeSurroundings) {
    this.name = name;
    this.#peers = peers;
    this.#surroundings = surroundings;
    const { random, timing } = surroundings;
    this.#clock = { offset: random.below(1_000_000), rate: 1 + (random.next() - 0.5) * timing.drift };
  }

  get isUp(): boolean {
    return this.#leases !== undefined;
  }

  get isRunning(): boolean {
    return this.isUp && this.#surroundings.now() >= this.#pausedUntil;
  }

  get localNow(): number {
    return this.#clock.offset + this.#surroundings.now() * this.#clock.rate;
  }

  copy(shard: string): { readonly machine: ShardCopy; readonly disk: SimulatedDisk } | undefined {
    return this.#copies.get(shard);
  }

  /** An empty copy of a new shard. */
  place(shard: string, copy: string): void {
    this.disks.set(shard, new SimulatedDisk(copy, 1));
    if (this.isUp) this.#open(shard);
  }

  /** `openMsMax`: so long may a store take to open. */
  start(openMsMax = 15_000): void {
    this.#run++;
    this.#leases = new NodeLeases(`${this.name}.${this.#run}`, this.localNow, this.#surroundings.timing);
    this.#copies.clear();
    this.#closed.clear();
    this.#heard.clear();
    const { random, after } = this.#surroundings;
    for (const [shard, disk] of this.disks) {
      const openMs = disk.isDamaged || !random.oneIn(8) ? 0 : random.below(openMsMax);
      if (openMs === 0 && !disk.isDamaged) {
        this.#open(shard);
        continue;
      }
      this.#noteClosed(shard, disk.isDamaged);
      if (!disk.isDamaged) after(openMs, () => this.#whenRunning(() => this.#reopen(shard, disk)));
    }
    this.#refresh();
    this.#tick();
  }

  kill(): void {
    this.#leases = undefined;
    for (const [shard, { writes }] of this.#copies) {
      for (const { ended } of writes) ended("unknown");
      // What was being written is there or not.
      const pending = this.#pending.get(shard);
      if (pending !== undefined && this.#surroundings.random.oneIn(2)) pending();
    }
    this.#pending.clear();
    this.#copies.clear();
    this.#run++;
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#surroundings.now() + ms);
  }

  /** No write ends for so long. */
  standDisk(ms: number): void {
    this.#diskStandsUntil = Math.max(this.#diskStandsUntil, this.#surroundings.now() + ms);
  }

  /** No write succeeds for so long, and no store that has failed is opened. */
  fillDisk(ms: number): void {
    this.#diskFullUntil = this.#surroundings.now() + ms;
  }

  /** What is there of the copy cannot be used any more. */
  damage(shard: string): void {
    const disk = this.disks.get(shard);
    if (disk === undefined) return;
    disk.isDamaged = true;
    const open = this.#copies.get(shard);
    if (open !== undefined) this.#close(shard, open);
    this.#closed.get(shard)?.failed(this.localNow);
  }

  handOver(shard: string): void {
    this.#deliver(shard, { type: "handOver" });
  }

  receive(from: string, message: NodeMessage): void {
    this.#whenRunning(() => {
      if (message.type === "heartbeat") {
        this.#leases?.receive(from, message.heartbeat, this.localNow);
        return;
      }
      const { shard } = message;
      if (this.#copies.get(shard)?.disk.copy === message.to) {
        this.#deliver(shard, { type: "message", from: message.from, message: message.message });
        return;
      }
      const leases = this.#leases;
      if (leases === undefined) return;
      const { timing } = this.#surroundings;
      const closed =
        this.#closed.get(shard) ?? new ClosedCopy({ node: this.name, shard, leases, timing }, this.localNow);
      const effects = closed.message(message.from, message.message, this.#heard.get(shard));
      this.#carryOutClosed(shard, message.to, effects);
    });
  }

  /** The configuration has changed; what is older than what is known does nothing. Undefined: the class is deleted. */
  configured(shard: string, configuration: ShardConfiguration | undefined): void {
    this.#whenRunning(() => this.#configured(shard, configuration));
  }

  /** Drafts a commit, all of whose writes change documents of their own; false: the copy takes none now. */
  commit(shard: string, writes: readonly DraftedWrite[]): boolean {
    const open = this.#copies.get(shard);
    if (open === undefined || !this.isRunning || open.machine.commitFault(this.localNow) !== undefined) return false;
    open.writes = writes;
    this.#deliver(shard, { type: "commit", changes: writes.map(({ document, row }) => ({ document, row })) });
    return true;
  }

  #whenRunning(run: () => void): void {
    const { now, after } = this.#surroundings;
    const started = this.#run;
    if (!this.isUp) return;
    if (now() >= this.#pausedUntil) run();
    else {
      after(this.#pausedUntil - now() + 0.01, () => {
        if (this.#run === started) this.#whenRunning(run);
      });
    }
  }

  #after(ms: number, run: () => void): void {
    const started = this.#run;
    this.#surroundings.after(ms, () => {
      if (this.#run === started) this.#whenRunning(run);
    });
  }

  #open(shard: string): void {
    const disk = this.disks.get(shard);
    const leases = this.#leases;
    if (disk === undefined || leases === undefined) return;
    const { timing, wrong, journalKeepEntries, queuedCommitsMax, newId } = this.#surroundings;
    const machine = new ShardCopy({
      name: disk.copy,
      claim: newId(),
      shard,
      state: disk.state,
      isNew: disk.isNew,
      leases,
      timing,
      journalKeepEntries,
      queuedCommitsMax,
      wrong,
    });
    disk.isNew = false;
    this.#closed.delete(shard);
    this.#copies.set(shard, { disk, machine, writes: [] });
    const heard = this.#heard.get(shard);
    if (heard !== undefined) this.#deliver(shard, { type: "configuration", configuration: heard });
  }

  #noteClosed(shard: string, hasFailed: boolean): void {
    const leases = this.#leases;
    if (leases === undefined) return;
    const closed = ClosedCopy.begin(
      { node: this.name, shard, leases, timing: this.#surroundings.timing },
      this.localNow,
    );
    if (hasFailed) closed.failed(this.localNow);
    this.#closed.set(shard, closed);
  }

  #carryOutClosed(shard: string, from: string, effects: readonly CopyEffect[]): void {
    for (const effect of effects) {
      if (effect.type === "send") this.#send(shard, from, effect.to, effect.message);
      if (effect.type === "refresh") this.#refresh();
      if (effect.type !== "propose") continue;
      this.#surroundings.propose(this.name, shard, effect.next, (_, current) => {
        this.#whenRunning(() => this.#configured(shard, current));
      });
    }
  }

  #configured(shard: string, configuration: ShardConfiguration | undefined): void {
    if (configuration === undefined) {
      this.#drop(shard);
      return;
    }
    const own = copiesOf(configuration).find((copy) => nodeOf(copy) === this.name);
    const disk = this.disks.get(shard);
    if ((this.#heard.get(shard)?.version ?? 0) < configuration.version) this.#heard.set(shard, configuration);
    if (own !== undefined && own !== disk?.copy && disk === undefined) {
      this.#replace(shard, configuration, own);
      return;
    }
    this.#deliver(shard, { type: "configuration", configuration });
  }

  #drop(shard: string): void {
    const { confirmDropped, wrong } = this.#surroundings;
    if (wrong !== "a deletion is confirmed before the copy has stopped") {
      for (const { ended } of this.#copies.get(shard)?.writes ?? []) ended("unknown");
      this.#copies.delete(shard);
      this.#closed.delete(shard);
      this.disks.delete(shard);
      this.#leases?.forget(shard);
    }
    confirmDropped(this.name, shard);
  }

  /** A copy that is not on the disk: a new one takes its place, where others hold what it held. */
  #replace(shard: string, configuration: ShardConfiguration, lost: string): void {
    const { newId, propose } = this.#surroundings;
    if (configuration.inSync.includes(lost) && configuration.inSync.length === 1) {
      // It gives its place to one that is eligible.
      if (!this.#closed.has(shard)) this.#noteClosed(shard, true);
      return;
    }
    const copy = `${this.name}/${newId()}`;
    const started = this.#run;
    propose(this.name, shard, withdrawn(configuration, lost, copy), (isAccepted, current) => {
      if (this.#run !== started) return;
      if (isAccepted && !this.disks.has(shard)) {
        this.disks.set(shard, new SimulatedDisk(copy, configuration.version + 1));
        this.#open(shard);
      }
      this.#configured(shard, current);
    });
  }

  #refresh(stamp?: Stamp): void {
    this.#surroundings.read(this.name, (all) => {
      this.#whenRunning(() => {
        for (const [shard, configuration] of all) this.#configured(shard, configuration);
        if (stamp !== undefined) this.#leases?.confirmedBy(STORE, stamp, this.localNow);
      });
    });
  }

  /** Ten times a second: heartbeats, who is silent, whether the store is to be asked. */
  #tick(): void {
    const { timing } = this.#surroundings;
    const leases = this.#leases;
    if (leases === undefined) return;
    const now = this.localNow;
    if (now >= this.#nextHeartbeat) {
      this.#nextHeartbeat = now + timing.heartbeatMs;
      for (const peer of this.#peers) {
        this.#surroundings.send(this.name, peer, { type: "heartbeat", heartbeat: leases.heartbeatTo(peer, now) });
      }
      const needsStore = [...this.#copies.values()].some(
        ({ machine }) => (machine.configuration?.eligible.length ?? 0) > 0,
      );
      if (needsStore || this.#heartbeats++ % 8 === 0) this.#refresh(leases.stamp(now));
    }
    const silent = this.#peers.filter((peer) => leases.heardAt(peer) + timing.silenceMs * (1 + timing.drift) <= now);
    for (const [shard, { machine }] of this.#copies) {
      const primary = nodeOf(machine.configuration?.primary ?? "/");
      if (silent.includes(primary)) this.#deliver(shard, { type: "silent", node: primary });
      else if (machine.isPrimary && machine.readFault(now) !== undefined) this.#deliver(shard, { type: "wake" });
    }
    for (const [shard, closed] of this.#closed) {
      const heard = this.#heard.get(shard);
      const copy = heard && copiesOf(heard).find((one) => nodeOf(one) === this.name);
      if (heard !== undefined && copy !== undefined) this.#carryOutClosed(shard, copy, closed.step(heard, now));
    }
    this.#after(100, () => this.#tick());
  }

  #nextHeartbeat = 0;
  #heartbeats = 0;
  readonly #pending = new Map<string, () => void>();

  #deliver(shard: string, event: CopyEvent): void {
    const open = this.#copies.get(shard);
    if (open === undefined || !this.isUp) return;
    const effects = open.machine.handle(event, this.localNow);
    for (const effect of effects) this.#carryOut(shard, open, effect);
    const { wakeAt } = open.machine;
    if (Number.isFinite(wakeAt)) {
      this.#after((wakeAt - this.localNow) / this.#clock.rate + 0.01, () => {
        if (this.#copies.get(shard) === open && open.machine.wakeAt === wakeAt) this.#deliver(shard, { type: "wake" });
      });
    }
  }

  #carryOut(shard: string, open: OpenCopy, effect: CopyEffect): void {
    const { random, propose, acknowledged } = this.#surroundings;
    const { disk } = open;
    const toSelf = (event: CopyEvent) => {
      if (this.#copies.get(shard) === open) this.#deliver(shard, event);
    };
    switch (effect.type) {
      case "send":
        this.#send(shard, disk.copy, effect.to, effect.message);
        return;
      case "write":
        this.#write(shard, open, effect);
        return;
      case "propose": {
        let hasResponded = false;
        const responded = (event: CopyEvent) => {
          if (hasResponded) return;
          hasResponded = true;
          toSelf(event);
        };
        propose(this.name, shard, effect.next, (isAccepted, current) => {
          this.#whenRunning(() => {
            responded({ type: "proposed", outcome: isAccepted ? "accepted" : "conflict", configuration: current });
          });
        });
        this.#after(PROPOSAL_MS, () => responded({ type: "proposed", outcome: "unknown", configuration: undefined }));
        return;
      }
      case "refresh":
        this.#refresh();
        return;
      case "listChanges":
        this.#after(random.below(5), () => {
          toSelf({ type: "changes", session: effect.session, documents: disk.changesAfter(effect.after) });
        });
        return;
      case "openRows":
      case "nextRows":
        this.#after(random.below(this.readMs), () => {
          const { session } = effect;
          if (effect.type === "openRows") disk.openRows(session, effect.after, effect.isFull, effect.documents);
          const isWhole = effect.type === "openRows" && effect.isWhole;
          const { rows, isLast } = disk.nextRows(session, isWhole ? Number.POSITIVE_INFINITY : this.readMs > 5 ? 1 : 3);
          const { end } = disk.state;
          toSelf({ type: "rows", session, rows, isLast, end, through: end.sequence });
        });
        return;
      case "committed":
      case "abandoned": {
        const { writes } = open;
        open.writes = [];
        const outcome = effect.type === "committed" ? "acknowledged" : "unknown";
        if (effect.type === "committed") acknowledged(shard, disk, open.machine);
        for (const { ended } of writes) ended(outcome);
        return;
      }
      case "discard":
        this.#copies.delete(shard);
        this.disks.delete(shard);
    }
  }

  #write(shard: string, open: OpenCopy, { write, batch }: Extract<CopyEffect, { type: "write" }>): void {
    const { random, now, after } = this.#surroundings;
    const { disk } = open;
    const started = this.#run;
    const isFull = now() < this.#diskFullUntil;
    const fails = this.failsNextWrite || isFull;
    this.failsNextWrite = false;
    const apply = () => {
      disk.apply(batch);
      this.#surroundings.wrote(shard, disk, batch);
    };
    this.#pending.set(shard, apply);
    const ms = Math.max(this.#diskStandsUntil - now(), 0) + this.writeMs * (0.5 + random.next());
    after(ms, () => {
      // The disk goes on while the process is stopped.
      if (this.#run !== started || this.#pending.get(shard) !== apply) return;
      this.#pending.delete(shard);
      if (!fails || (!isFull && random.oneIn(2))) apply();
      this.#whenRunning(() => {
        if (this.#copies.get(shard) !== open) return;
        if (!fails) {
          this.#deliver(shard, { type: "written", write });
          return;
        }
        this.#deliver(shard, { type: "writeFailed" });
        if (this.#copies.get(shard) !== open) return;
        // It is closed as soon as what is under way there has ended, and opened again.
        this.#after(random.below(1_000), () => {
          this.#close(shard, open);
          this.#after(1_000 + random.below(3_000), () => this.#reopen(shard, disk));
        });
      });
    });
  }

  #close(shard: string, open: OpenCopy): void {
    if (this.#copies.get(shard) !== open) return;
    for (const { ended } of open.writes) ended("unknown");
    this.#copies.delete(shard);
    this.#noteClosed(shard, open.disk.isDamaged);
  }

  #reopen(shard: string, disk: SimulatedDisk): void {
    if (this.disks.get(shard) !== disk || this.#copies.has(shard) || disk.isDamaged) return;
    if (this.#surroundings.now() < this.#diskFullUntil) {
      this.#after(2_000, () => this.#reopen(shard, disk));
      return;
    }
    this.#open(shard);
    this.#refresh();
  }

  #send(shard: string, from: string, to: string, message: CopyMessage): void {
    this.#surroundings.send(this.name, nodeOf(to), { type: "copy", shard, from, to, message });
  }
}
