import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { epochAt } from "../journal-position.js";
import {
  copiesOf,
  initialConfiguration,
  nodeOf,
  PLACEMENT,
  proposalFault,
  type ShardConfiguration,
  STORE,
  withLearner,
  withoutLearner,
} from "../shard-configuration.js";
import type { ShardCopy } from "../shard-copy.js";
import { TIMING } from "../timing.js";
import type { WrongVariant } from "../wrong-variants.js";
import { Broken, checkCopies, checkHealed, checkHistories, checkRows, hasIntactCopyElsewhere } from "./checks.js";
import type { ClientOperation } from "./client-history.js";
import { EntryLedger } from "./entry-ledger.js";
import { EventQueue } from "./event-queue.js";
import { drawFault, drawPowerFailure, type Fault, type FaultTarget } from "./faults.js";
import type { SimulatedDisk } from "./simulated-disk.js";
import { SimulatedNetwork } from "./simulated-network.js";
import { type DraftedWrite, type NodeMessage, SimulatedNode } from "./simulated-node.js";

export interface SimulationOptions {
  readonly seed: number;
  readonly wrong?: WrongVariant | undefined;
  /** Of the faults that the seed has, only these; undefined: all. */
  readonly faults?: readonly number[] | undefined;
  /** Called with a line for each thing that happens. */
  readonly trace?: ((line: string) => void) | undefined;
}

export interface SimulationResult {
  readonly seed: number;
  /** What went wrong; undefined: nothing. */
  readonly failure: string | undefined;
  readonly faults: readonly string[];
  readonly steps: number;
  readonly acknowledged: number;
}

const FAULTS_MS = 30_000;
/** Seeds that are divisible by it. */
const POWER_FAILURE_EVERY = 19;
const CLIENTS = 5;
const OPERATION_MS = 4_000;
/** A run has about 9,000 steps: with so many something goes on for ever. */
const STEPS_MAX = 200_000;
/** After so long without faults everything is whole again. */
const HEALED_MS = 45_000;

/** Runs one seed. The same options do the same to the byte. */
export function simulate(options: SimulationOptions): SimulationResult {
  const cluster = new SimulatedCluster(options);
  return cluster.run();
}

/** Whole clusters in virtual time: nodes, the MetaStore, the network, clients, faults. */
class SimulatedCluster implements FaultTarget {
  readonly #options: SimulationOptions;
  readonly #random: SeededRandom;
  readonly #queue = new EventQueue();
  readonly nodes = new Map<string, SimulatedNode>();
  readonly store = new Map<string, ShardConfiguration>();
  /** Shards of classes that exist. A class that is made again has shards with other names. */
  shards: string[] = [];
  /** Shards of deleted classes: the nodes that have not confirmed it. */
  readonly #drops = new Map<string, Set<string>>();
  readonly histories = new Map<string, ClientOperation[]>();
  /** Of each shard: the epoch of each entry that was acknowledged. */
  readonly acknowledged = new Map<string, Map<number, number>>();
  readonly #ledger = new EntryLedger();
  /** Few: histories with much in common. Many: what went wrong is not overwritten soon. */
  readonly #documents: number;
  readonly #network: SimulatedNetwork;
  /** Nodes that never come back. */
  readonly gone = new Set<string>();
  /** A node, or a copy, is lost for good. */
  #hasLost = false;
  readonly #changedAt = new Map<string, number>();
  #ids = 0;
  #values = 0;
  #steps = 0;
  #failure: string | undefined;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#documents = this.#random.pick([4, 40]);
    this.#network = new SimulatedNetwork(this.#random);
  }

  run(): SimulationResult {
    const faults = this.#build();
    const { faults: chosen } = this.#options;
    const used = faults.filter((_, at) => chosen === undefined || chosen.includes(at));
    for (const { at, words, run } of used) {
      this.#queue.at(at, () => {
        this.#trace(`fault: ${words}`);
        run();
      });
    }
    for (let client = 0; client < CLIENTS; client++) this.#queue.at(200, () => this.#operate());
    try {
      this.#runUntil(FAULTS_MS);
      this.#heal();
      this.#runUntil(FAULTS_MS + HEALED_MS);
      checkHealed(this);
      checkHistories(this, this.#queue.now);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      this.#failure = error.message;
    }
    let acknowledged = 0;
    for (const entries of this.acknowledged.values()) acknowledged += entries.size;
    return {
      seed: this.#options.seed,
      failure: this.#failure,
      faults: faults.map(({ at, words }) => `${Math.round(at)} ms: ${words}`),
      steps: this.#steps,
      acknowledged,
    };
  }

  #runUntil(until: number): void {
    while (this.#queue.runNext(until)) {
      if (++this.#steps > STEPS_MAX) throw new Broken(`more than ${STEPS_MAX} things happen`);
      this.#checkLeases();
    }
  }

  /** Nodes, shards, and the faults to come. */
  #build(): readonly Fault[] {
    const random = this.#random;
    const count = 3 + random.below(3);
    const names = Array.from({ length: count }, (_, at) => `n${at + 1}`);
    const journalKeepEntries = random.pick([8, 30, 1_000]);
    const queuedCommitsMax = random.pick([1, 3, 100]);
    for (const name of names) {
      const peers = names.filter((other) => other !== name);
      const node = new SimulatedNode(name, peers, {
        // A run has not the time of a cluster whose nodes do not come back.
        timing: { ...TIMING, aloneMs: 12_000 },
        random,
        wrong: this.#options.wrong,
        ...{ journalKeepEntries, queuedCommitsMax },
        now: () => this.#queue.now,
        after: (ms, run) => this.#queue.at(this.#queue.now + ms, run),
        send: (from, to, message) => this.#send(from, to, message),
        propose: (from, shard, next, then) => this.#propose(from, shard, next, then),
        read: (from, then) => this.#read(from, then),
        confirmDropped: (from, shard) => this.#confirmDropped(from, shard),
        acknowledged: (shard, disk, copy) => this.#noteAcknowledged(shard, disk, copy),
        wrote: (shard, disk, batch) => this.#ledger.note(shard, disk.copy, batch),
        newId: () => `x${++this.#ids}`,
      });
      node.writeMs = random.pick([1, 2, 10]);
      node.readMs = random.pick([5, 5, 400]);
      this.nodes.set(name, node);
    }
    this.names = names;
    for (const shard of ["s1", "s2"]) this.#create(shard);
    for (const node of this.nodes.values()) node.start();
    if (this.#options.seed % POWER_FAILURE_EVERY === 0) {
      return [{ ...drawPowerFailure(random, this), at: 5_000 + random.below(15_000) }];
    }
    const faults: Fault[] = [];
    const faultCount = random.pick([2, 5, 10, 20]);
    const areLasting = random.oneIn(3);
    for (let at = 0; at < faultCount; at++) {
      const before = faults.at(-1)?.at;
      // Often soon after the one before: what hurts is two at once.
      const isSoon = before !== undefined && random.oneIn(2);
      const time = isSoon ? before + random.below(4_000) : 1_000 + random.below(FAULTS_MS - 2_000);
      faults.push({ ...drawFault(random, this, areLasting), at: Math.min(time, FAULTS_MS - 500) });
    }
    return faults.sort((one, other) => one.at - other.at);
  }

  names: readonly string[] = [];

  #create(shard: string): void {
    const random = this.#random;
    // Five copies take more than four nodes.
    const factor = Math.min(random.pick([2, 3, 3, 3, 5]), this.names.length);
    const members = random.shuffled(this.names).slice(0, factor);
    const copies = members.map((name) => `${name}/x${++this.#ids}`);
    for (const copy of copies) this.nodes.get(nodeOf(copy))?.place(shard, copy);
    const minInSync = factor === 2 ? random.pick([1, 2]) : factor === 5 ? 3 : 2;
    this.shards.push(shard);
    this.acknowledged.set(shard, new Map());
    this.store.set(shard, { ...initialConfiguration(copies), minInSync });
  }

  /** The class is deleted; when all that had a copy have confirmed it, that is answered, and the class may be made again. Others hear of it, too. */
  drop(shard: string): void {
    const configuration = this.store.get(shard);
    if (configuration === undefined || this.shards.length > 3) return;
    this.shards = this.shards.filter((one) => one !== shard);
    this.store.delete(shard);
    this.#drops.set(shard, new Set(copiesOf(configuration).map(nodeOf)));
    this.#create(`${shard}'`);
    for (const [name, node] of this.nodes) {
      if (this.#network.passes(STORE, name))
        this.#queue.at(this.#queue.now + this.#network.delay(), () => node.configured(shard, undefined));
    }
  }

  #confirmDropped(name: string, shard: string): void {
    if (!this.#network.passes(name, STORE)) return;
    this.#queue.at(this.#queue.now + this.#network.delay(), () => this.#drops.get(shard)?.delete(name));
  }

  /** What is answered of a class whose deletion was answered is wrong. */
  #checkExists(shard: string, what: string): void {
    if (this.#drops.get(shard)?.size === 0) throw new Broken(`${shard}: ${what} after its deletion was answered`);
  }

  kill(name: string, ms: number, losesDisks: boolean, openMsMax?: number): void {
    const node = this.nodes.get(name);
    if (node === undefined || !node.isUp) return;
    const mayLose = losesDisks && this.#mayLose(name);
    node.kill();
    if (mayLose) node.disks.clear();
    this.#queue.at(this.#queue.now + ms, () => {
      if (!node.isUp && !this.gone.has(name)) node.start(openMsMax);
    });
  }

  loseEnd(shard: string, name: string, commits: number): void {
    if (hasIntactCopyElsewhere(this, shard, name)) this.nodes.get(name)?.disks.get(shard)?.loseEnd(commits);
  }

  loseForGood(name: string): void {
    if (!this.#mayLose(name)) return;
    this.#hasLost = true;
    this.gone.add(name);
    this.nodes.get(name)?.kill();
  }

  damage(shard: string, name: string): void {
    if (this.#hasLost || !hasIntactCopyElsewhere(this, shard, name)) return;
    this.#hasLost = true;
    this.nodes.get(name)?.damage(shard);
  }

  #mayLose(name: string): boolean {
    // One at a time: a change that is on its way may take out what is left.
    return !this.#hasLost && [...this.store.keys()].every((shard) => hasIntactCopyElsewhere(this, shard, name));
  }

  cutOff(ways: readonly string[], ms: number): void {
    this.#network.cut(ways);
    this.#queue.at(this.#queue.now + ms, () => this.#network.mend(ways));
  }

  node(name: string): SimulatedNode | undefined {
    return this.nodes.get(name);
  }

  configuration(shard: string): ShardConfiguration | undefined {
    return this.store.get(shard);
  }

  after(ms: number, run: () => void): void {
    this.#queue.at(this.#queue.now + ms, run);
  }

  place(shard: string, name: string): void {
    const configuration = this.store.get(shard);
    const copies = configuration === undefined ? [] : copiesOf(configuration);
    if (configuration === undefined || copies.some((copy) => nodeOf(copy) === name) || copies.length >= 4) return;
    this.#change(shard, withLearner(configuration, `${name}/`));
  }

  unplace(shard: string): void {
    const configuration = this.store.get(shard);
    // A copy that was taken out may search for as long as two leases: it is not forgotten before. What is eligible may be all
    // that is left.
    if (this.#queue.now < (this.#changedAt.get(shard) ?? 0) + 2.5 * TIMING.leaseMs) return;
    const learner = configuration?.learners.find((copy) => !configuration.eligible.includes(copy));
    if (configuration !== undefined && learner !== undefined && copiesOf(configuration).length > 3) {
      this.#change(shard, withoutLearner(configuration, learner));
    }
  }

  #heal(): void {
    this.#trace("everything heals");
    this.#network.heal();
    for (const [name, node] of this.nodes) {
      node.failsNextWrite = false;
      node.fillDisk(0);
      if (!node.isUp && !this.gone.has(name)) node.start();
    }
  }

  #send(from: string, to: string, message: NodeMessage): void {
    const times = this.#network.times();
    for (let time = 0; time < times; time++) {
      if (!this.#network.passes(from, to)) continue;
      this.#queue.at(this.#queue.now + this.#network.delay(), () => {
        // What is on its way is lost when the way is cut.
        if (this.#network.isCut(from, to)) return;
        if (message.type === "copy")
          this.#trace(`${message.from} > ${message.to} ${message.shard}: ${words(message.message)}`);
        this.nodes.get(to)?.receive(from, message);
      });
    }
  }

  #propose(
    from: string,
    shard: string,
    next: ShardConfiguration,
    then: (isAccepted: boolean, current: ShardConfiguration) => void,
  ): void {
    if (!this.#network.passes(from, STORE)) return;
    this.#queue.at(this.#queue.now + this.#network.delay(), () => {
      const current = this.store.get(shard);
      if (current === undefined) return;
      const isAccepted = current.version === next.version - 1;
      if (isAccepted) this.#change(shard, next, from);
      const now = this.store.get(shard) ?? next;
      if (!this.#network.passes(STORE, from)) return;
      this.#queue.at(this.#queue.now + this.#network.delay(), () => then(isAccepted, now));
    });
  }

  #read(from: string, then: (all: ReadonlyMap<string, ShardConfiguration | undefined>) => void): void {
    if (!this.#network.passes(from, STORE)) return;
    this.#queue.at(this.#queue.now + this.#network.delay(), () => {
      const all = new Map<string, ShardConfiguration | undefined>(this.store);
      const disks = this.nodes.get(from)?.disks;
      for (const [shard, holders] of this.#drops) if (holders.has(from) || disks?.has(shard)) all.set(shard, undefined);
      if (this.#network.passes(STORE, from)) this.#queue.at(this.#queue.now + this.#network.delay(), () => then(all));
    });
  }

  #change(shard: string, next: ShardConfiguration, by = PLACEMENT): void {
    const before = this.store.get(shard);
    const fault = before === undefined ? undefined : proposalFault(before, next, by);
    if (fault !== undefined) throw new Broken(`${shard}: ${fault}`);
    this.store.set(shard, next);
    this.#changedAt.set(shard, this.#queue.now);
    this.#trace(`${shard}: ${JSON.stringify(next)}`);
    checkCopies(this, shard, next);
    for (const [name, node] of this.nodes) {
      if (!this.#network.passes(STORE, name)) continue;
      this.#queue.at(this.#queue.now + this.#network.delay(), () => node.configured(shard, next));
    }
  }

  #operate(): void {
    const random = this.#random;
    const again = (ms: number) => {
      if (this.#queue.now + ms < FAULTS_MS + 5_000) this.#queue.at(this.#queue.now + ms, () => this.#operate());
    };
    const shard = random.pick([...this.shards, ...this.#drops.keys()]);
    const document = `d${random.below(this.#documents)}`;
    const kind = random.pick(["write", "write", "write", "create", "read", "read", "search"] as const);
    const isDeletion = kind === "write" && random.oneIn(4);
    const value = kind === "read" || kind === "search" || isDeletion ? "" : `v${++this.#values}`;
    const operation: ClientOperation = { kind, value, calledAt: this.#queue.now, endedAt: Number.POSITIVE_INFINITY };
    const key = `${shard}/${document}`;
    const history = this.histories.get(key) ?? [];
    this.histories.set(key, history);
    const end = (isKnown: boolean) => {
      if (isKnown) operation.endedAt = this.#queue.now;
      again(20 + random.below(300));
    };
    const attempt = () => {
      const outcome = this.#attempt(shard, document, operation, end);
      if (outcome === "under way") {
        history.push(operation);
        return;
      }
      if (outcome === "answered") {
        this.#checkExists(shard, `a ${kind} is answered`);
        history.push(operation);
        end(true);
      } else if (this.#queue.now < operation.calledAt + OPERATION_MS) {
        this.#queue.at(this.#queue.now + 50, attempt);
      } else {
        // Refused by everybody: it has not happened.
        again(100);
      }
    };
    attempt();
  }

  /** One attempt at a node of chance. Client and node are close: nothing is lost between them. */
  #attempt(
    shard: string,
    document: string,
    operation: ClientOperation,
    end: (isKnown: boolean) => void,
  ): "refused" | "answered" | "under way" {
    const node = this.#random.pick([...this.nodes.values()]);
    const open = node.isRunning ? node.copy(shard) : undefined;
    if (open === undefined) return "refused";
    const { machine, disk } = open;
    const now = node.localNow;
    const found = disk.rows.get(document)?.value ?? "";
    if (operation.kind === "search") {
      if (machine.searchFault(now) !== undefined) return "refused";
      operation.value = found;
      return "answered";
    }
    if (machine.readFault(now) !== undefined || machine.isUnderWay(document)) return "refused";
    if (operation.kind === "read") {
      operation.value = found;
      return "answered";
    }
    if (operation.kind === "create" && found !== "") {
      operation.isRefused = true;
      return "answered";
    }
    const writes: DraftedWrite[] = [
      {
        document,
        row: operation.value === "" ? undefined : operation.value,
        ended: (outcome) => end(outcome === "acknowledged"),
      },
    ];
    const others = this.#random.oneIn(4) ? this.#others(shard, this.#random.below(6)) : [];
    if (!node.commit(shard, [...writes, ...others.map(({ write }) => write)])) return "refused";
    for (const { note } of others) note();
    return "under way";
  }

  /** Writes in the same commit, of documents that nothing else writes: histories with many unknown outcomes take long to check. */
  #others(shard: string, count: number): readonly { write: DraftedWrite; note: () => void }[] {
    return Array.from({ length: count }, (_, at) => {
      const other = `e${at}`;
      const value = `v${++this.#values}`;
      const operation: ClientOperation = {
        kind: "write",
        value,
        calledAt: this.#queue.now,
        endedAt: Number.POSITIVE_INFINITY,
      };
      const ended: DraftedWrite["ended"] = (outcome) => {
        if (outcome === "acknowledged") operation.endedAt = this.#queue.now;
      };
      const key = `${shard}/${other}`;
      const history = this.histories.get(key) ?? [];
      this.histories.set(key, history);
      return { write: { document: other, row: value, ended }, note: () => history.push(operation) };
    });
  }

  #noteAcknowledged(shard: string, disk: SimulatedDisk, copy: ShardCopy): void {
    this.#checkExists(shard, "a write is acknowledged");
    const { end } = copy.state;
    const configuration = this.store.get(shard);
    this.#noteKnown(shard, copy);
    this.#trace(`${disk.copy} ${shard}: acknowledged up to ${end.epoch}.${end.sequence}`);
    if (configuration === undefined) return;
    const { inSync = [], minInSync = 0 } = copy.configuration ?? {};
    if (inSync.length < minInSync)
      throw new Broken(`${shard}: acknowledged with ${inSync.length} of ${minInSync} copies in sync`);
    checkCopies(this, shard, configuration);
    checkRows(this, shard, disk, configuration);
  }

  #noteKnown(shard: string, { committed, state: { epochs } }: ShardCopy): void {
    const known = this.acknowledged.get(shard);
    if (known === undefined) return;
    for (let sequence = committed; sequence > 0 && !known.has(sequence); sequence--) {
      known.set(sequence, epochAt(epochs, sequence));
    }
  }

  /** Never may two copies of a shard both answer as its primary. */
  #checkLeases(): void {
    for (const shard of this.shards) {
      let holder: string | undefined;
      for (const node of this.nodes.values()) {
        if (!node.isRunning) continue;
        const open = node.copy(shard);
        if (open === undefined || !open.machine.isPrimary || open.machine.readFault(node.localNow) !== undefined)
          continue;
        if (holder !== undefined) throw new Broken(`${shard}: ${holder} and ${open.disk.copy} both answer as primary`);
        holder = open.disk.copy;
        // What may be read must stay as what was acknowledged does.
        this.#noteKnown(shard, open.machine);
      }
    }
  }

  #trace(line: string): void {
    this.#options.trace?.(`${this.#queue.now.toFixed(1)} ${line}`);
  }
}

function words(message: object): string {
  return JSON.stringify(message, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value));
}
