import type { SeededRandom } from "@shoal/seeded-random";
import { nodeOf, type ShardConfiguration, STORE } from "../shard-configuration.js";
import type { SimulatedNode } from "./simulated-node.js";

export interface Fault {
  /** Virtual time. */
  readonly at: number;
  readonly words: string;
  readonly run: () => void;
}

/** What faults do to a cluster. */
export interface FaultTarget {
  readonly names: readonly string[];
  readonly shards: readonly string[];
  node(name: string): SimulatedNode | undefined;
  configuration(shard: string): ShardConfiguration | undefined;
  after(ms: number, run: () => void): void;
  /** `openMsMax`: so long may a store take to open when it starts. */
  kill(name: string, ms: number, losesDisks: boolean, openMsMax?: number): void;
  /** It never starts again. */
  loseForGood(name: string): void;
  damage(shard: string, name: string): void;
  /** The last commits are gone from the log of its copy, where other copies have them. */
  loseEnd(shard: string, name: string, commits: number): void;
  /** Nothing passes on the ways `from>to`. */
  cutOff(ways: readonly string[], ms: number): void;
  place(shard: string, node: string): void;
  unplace(shard: string): void;
  drop(shard: string): void;
}

/** The node of which a fault speaks: one by name, or whoever has a role when it happens. */
function drawTarget(
  random: SeededRandom,
  cluster: FaultTarget,
): { readonly words: string; readonly name: () => string } {
  const shard = random.pick(cluster.shards);
  const name = random.pick(cluster.names);
  const named = { words: name, name: () => name };
  const choices = [
    named,
    { words: `the primary of ${shard}`, name: () => nodeOf(cluster.configuration(shard)?.primary ?? `${name}/`) },
    {
      words: `a secondary of ${shard}`,
      name: () => {
        const { inSync = [], primary = "" } = cluster.configuration(shard) ?? {};
        return nodeOf(inSync.find((copy) => copy !== primary) ?? `${name}/`);
      },
    },
    {
      words: `a learner of ${shard}`,
      name: () => nodeOf(cluster.configuration(shard)?.learners[0] ?? `${name}/`),
    },
  ];
  return random.pick(choices);
}

/** All nodes die at once, and come back one by one; the log of one has lost its end. For a run of its own: other faults would keep the rest away. */
export function drawPowerFailure(random: SeededRandom, cluster: FaultTarget): Omit<Fault, "at"> {
  const target = drawTarget(random, cluster);
  const shard = random.pick(cluster.shards);
  const commits = 1 + random.below(8);
  const delays = cluster.names.map(() => 200 + random.below(5_000));
  const isFirst = random.oneIn(2);
  return {
    words: `all nodes are killed, and ${target.words} has lost ${commits} commits of ${shard}`,
    run: () => {
      const damaged = target.name();
      for (const [at, name] of cluster.names.entries()) {
        cluster.kill(name, isFirst && name === damaged ? 100 : (delays[at] ?? 0), false, 6_000);
      }
      cluster.loseEnd(shard, damaged, commits);
    },
  };
}

/** A fault of chance; what it does is decided when it happens. `areLasting`: some leave less to go wrong afterwards. */
export function drawFault(random: SeededRandom, cluster: FaultTarget, areLasting: boolean): Omit<Fault, "at"> {
  const { names } = cluster;
  const target = drawTarget(random, cluster);
  const second = random.oneIn(4) ? { words: STORE, name: () => STORE } : drawTarget(random, cluster);
  const ms = random.pick([200, 700, 1_500, 2_500, 4_000, 10_000]);
  const shard = random.pick(cluster.shards);
  const pair = `${target.words} and ${second.words}`;
  const node = (): SimulatedNode | undefined => cluster.node(target.name());
  const kinds: (() => Omit<Fault, "at">)[] = [
    () => ({
      words: `${target.words} is killed and starts after ${ms} ms`,
      run: () => cluster.kill(target.name(), ms, false),
    }),
    () => ({
      words: `${target.words} loses its disks and starts after ${ms} ms`,
      run: () => cluster.kill(target.name(), ms, true),
    }),
    () => ({ words: `${target.words} stands still for ${ms} ms`, run: () => node()?.pause(ms) }),
    () => ({
      words: `nothing passes from ${target.words} to ${second.words} for ${ms} ms`,
      run: () => cluster.cutOff([`${target.name()}>${second.name()}`], ms),
    }),
    () => ({
      words: `nothing passes from ${second.words} to ${target.words} for ${ms} ms`,
      run: () => cluster.cutOff([`${second.name()}>${target.name()}`], ms),
    }),
    () => ({
      words: `nothing passes between ${pair} for ${ms} ms`,
      run: () => cluster.cutOff([`${target.name()}>${second.name()}`, `${second.name()}>${target.name()}`], ms),
    }),
    () => ({
      words: `${target.words} is alone for ${ms} ms`,
      run: () => {
        const name = target.name();
        cluster.cutOff(
          [...names, STORE].flatMap((one) => [`${one}>${name}`, `${name}>${one}`]),
          ms,
        );
      },
    }),
    () => ({
      words: `${target.words} is alone for ${ms} ms; then nobody reaches the store for 4000 ms, and the primary of ${shard} is killed`,
      run: () => {
        const name = target.name();
        const ofStore = names.flatMap((one) => [`${one}>${STORE}`, `${STORE}>${one}`]);
        cluster.cutOff(
          names.flatMap((one) => [`${one}>${name}`, `${name}>${one}`]),
          ms,
        );
        cluster.cutOff([`${name}>${STORE}`, `${STORE}>${name}`], ms + 4_000);
        cluster.after(ms, () => {
          cluster.cutOff(ofStore, 4_000);
          cluster.kill(nodeOf(cluster.configuration(shard)?.primary ?? "/"), 200, false);
        });
      },
    }),
    () => ({
      words: `${target.words} is apart from the other nodes for ${ms} ms`,
      run: () => {
        const name = target.name();
        cluster.cutOff(
          names.flatMap((one) => [`${one}>${name}`, `${name}>${one}`]),
          ms,
        );
      },
    }),
    () => ({
      words: `nobody reaches the store for ${ms} ms`,
      run: () =>
        cluster.cutOff(
          names.flatMap((one) => [`${one}>${STORE}`, `${STORE}>${one}`]),
          ms,
        ),
    }),
    () => ({ words: `the disk of ${target.words} stands for ${ms} ms`, run: () => node()?.standDisk(ms) }),
    () => ({
      words: `a write of ${target.words} fails`,
      run: () => {
        const failing = node();
        if (failing !== undefined) failing.failsNextWrite = true;
      },
    }),
    () => ({ words: `${target.words} hands over ${shard}`, run: () => node()?.handOver(shard) }),
    () => ({ words: `${shard} gets a copy on ${target.words}`, run: () => cluster.place(shard, target.name()) }),
    () => ({ words: `the class of ${shard} is deleted and made anew`, run: () => cluster.drop(shard) }),
    () => ({ words: `${shard} loses a learner`, run: () => cluster.unplace(shard) }),
    () => ({
      words: `${target.words} is killed five times, a second apart`,
      run: () => {
        const name = target.name();
        for (let time = 0; time < 5; time++) cluster.after(time * 1_000, () => cluster.kill(name, 300, false));
      },
    }),
    () => ({
      words: `${pair} are killed, and start after ${ms} ms`,
      run: () => {
        const names = [target.name(), second.name()];
        for (const [at, name] of names.entries()) cluster.kill(name, ms / (at + 1), false);
      },
    }),
  ];
  const lasting: typeof kinds = [
    () => ({ words: `the disk of ${target.words} is full for ${ms} ms`, run: () => node()?.fillDisk(ms) }),
    () => ({ words: `${target.words} never comes back`, run: () => cluster.loseForGood(target.name()) }),
    () => ({ words: `${target.words} has a damaged ${shard}`, run: () => cluster.damage(shard, target.name()) }),
  ];
  return random.pick(areLasting && random.oneIn(4) ? lasting : kinds)();
}
