import type { Failures, FaultRun } from "../../faults/fault-row.js";
import type { Cluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import type { ClusterOptions } from "../cluster-options.js";
import { FAST } from "../slow-link.js";
import { ReMadeClass } from "./re-made-class.js";
import { inSync, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const HELD_MS = 3_000;
const PROFILES = ["weaviate", "spec"] as const;
const WAYS = ["SIGTERM", "kill -9"] as const;
/** Classes are only made by those who are told to. */
const ENV = { AUTOSCHEMA_ENABLED: "false" };
const OPTIONS: ClusterOptions = { gateways: 1, storageNodes: 3, coordinators: 1, etcdMembers: 0, env: ENV };

/**
 * R28 (F1): around a restart of the coordinator a class is deleted and created again through one gateway and filled through another.
 * Then the same while bytes between the coordinator and the storage nodes and the other gateway are held for 3 s. Afterwards
 * everything that was acknowledged is there, at every gateway; and whoever repeats what was answered with an error gets 200.
 */
export const R28_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R28",
  on: "cluster",
  isNightly: copies > 1,
  title: "F1: a class is deleted and made anew around restarts of the coordinator, and while bytes to it are held",
  needs: [],
  run: async (run) => {
    const [restarts, holds] = run.size === "short" ? [6, 2] : [200, 20];
    const restarted = await rowOnCluster({ ...OPTIONS, copies }, run, (cluster, failures) =>
      around(cluster, failures, run, restarts),
    );
    const slowToCoordinators = ["gateway-0", "storage-0", "storage-1", "storage-2"];
    const held = await rowOnCluster({ ...OPTIONS, copies, slowToCoordinators }, run, (cluster, failures) =>
      whileHeld(cluster, failures, run, holds),
    );
    return { figures: { ...restarted.figures, ...held.figures }, failures: [...restarted.failures, ...held.failures] };
  },
}));

/** Sums of the rounds. */
class Totals {
  acknowledged = 0;
  lost = 0;
  errors = 0;

  async add(made: ReMadeClass, gateways: readonly ClusterMember[], failures: Failures): Promise<number> {
    const lost: number[] = [];
    for (const { name, http } of gateways) lost.push(await made.check(name, http, failures));
    this.acknowledged += made.acknowledged;
    this.lost += Math.max(...lost);
    this.errors += made.errors;
    made.errors = 0;
    return Math.max(...lost);
  }

  figures(what: string): Readonly<Record<string, number>> {
    return {
      [`acknowledged, ${what}`]: this.acknowledged,
      [`of these lost, ${what}`]: this.lost,
      [`answers with an error, ${what}`]: this.errors,
    };
  }
}

/** The gateway that fills the class, and one of each wire profile that make it in turn. */
async function gatewaysOf(cluster: Cluster) {
  const [filler] = cluster.gateways;
  const makers: ClusterMember[] = [];
  for (const profile of PROFILES) makers.push(...(await cluster.addGateways(1, { WIRE_PROFILE: profile })).members);
  const [first] = makers;
  if (filler === undefined || first === undefined) throw new Error("there is no gateway");
  return { filler, maker: (turn: number) => makers[turn % makers.length] ?? first, all: [filler, ...makers] };
}

async function around(cluster: Cluster, failures: Failures, { random, say }: FaultRun, rounds: number) {
  const coordinator = cluster.member("coordinator-0");
  const { filler, maker, all } = await gatewaysOf(cluster);
  const made = new ReMadeClass("Car", random);
  await made.make(maker(0).http, failures);
  await made.fill(filler.http);
  const totals = new Totals();
  for (let round = 0; round < rounds; round++) {
    const way = WAYS[round % 2];
    const restart = (async () => {
      await pause(random() * 50);
      await (way === "SIGTERM" ? coordinator.stop() : coordinator.kill());
      await coordinator.launch();
    })();
    // From before its end to after its start.
    await pause(random() * 100);
    await made.makeAnew(maker(Math.floor(round / 2)).http, failures);
    await made.fill(filler.http);
    await restart;
    await inSync(cluster, failures, `round ${round + 1}`);
    const lost = await totals.add(made, all, failures);
    say(`round ${round + 1}, ${way}: ${made.acknowledged} acknowledged, ${lost} lost`);
  }
  return { "restarts of the coordinator": rounds, ...totals.figures("restarts") };
}

async function whileHeld(cluster: Cluster, failures: Failures, { random, say }: FaultRun, rounds: number) {
  const link = cluster.links.get("coordinator-0");
  if (link === undefined) throw new Error("nothing is between the coordinator and the others");
  const { filler, maker, all } = await gatewaysOf(cluster);
  const made = new ReMadeClass("Car", random);
  await made.make(maker(0).http, failures);
  await made.fill(filler.http);
  const totals = new Totals();
  for (let round = 0; round < rounds; round++) {
    link.speed = { ...FAST, delayMs: HELD_MS };
    const healing = pause(HELD_MS).then(() => {
      link.speed = FAST;
    });
    await made.makeAnew(maker(round).http, failures);
    await made.fill(filler.http);
    await healing;
    await pause(HELD_MS);
    await inSync(cluster, failures, `round ${round + 1}`);
    const lost = await totals.add(made, all, failures);
    say(`bytes held, round ${round + 1}: ${made.acknowledged} acknowledged, ${lost} lost`);
  }
  return { "times that bytes were held": rounds, ...totals.figures("bytes held") };
}
