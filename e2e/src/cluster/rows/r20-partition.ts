import { copiedRow, timesOf } from "./copied-row.js";
import { pause } from "./row-on-cluster.js";

const BACK_MS_MAX = 5_000;

/**
 * R20: a node with primaries is cut off from one other node, from all others, and from the coordinator and etcd, one way and both
 * ways. Histories are linear; soon after the links are whole writes are taken again.
 */
export const R20_CLUSTER = copiedRow({
  id: "R20",
  title: "partitions of a primary under load",
  needs: ["etcd", "root", "ip", "nft"],
  options: { network: "namespaces" },
  async act({ cluster, failures, objects, run, node, disturb, inSync }) {
    const isShort = run.size === "short";
    const cutMs = isShort ? 4_000 : 30_000;
    const { network, coordinators } = cluster;
    const cutFromAll = (name: string): void => {
      for (const coordinator of coordinators) network.cut(name, coordinator.name);
    };
    const cuts: readonly (readonly [string, (name: string, other: string) => void])[] = [
      ["from one node", (name, other) => network.cut(name, other)],
      ["from one node, what it sends", (name, other) => network.cutOneWay(name, other)],
      ["from one node, what it hears", (name, other) => network.cutOneWay(other, name)],
      ["from everybody", (name) => network.isolate(name, "both ways")],
      ["from everybody, what it sends", (name) => network.isolate(name, "from it")],
      ["from everybody, what it hears", (name) => network.isolate(name, "to it")],
      ["from the coordinator", (name) => cutFromAll(name)],
    ];
    const healedAfter: number[] = [];
    for (const [round, [what, cut]] of cuts.entries()) {
      if (isShort && round % 3 !== 0) continue;
      const [victim, other] = [node(round), node(round + 1)];
      // Of two that do not hear each other either may lose.
      await disturb(
        what.startsWith("from one node") ? [victim, other] : [victim],
        async () => {
          cut(victim.name, other.name);
          await pause(cutMs);
          network.heal();
          const healedMs = performance.now();
          await pause(isShort ? BACK_MS_MAX / 2 : BACK_MS_MAX + 1_000);
          const backMs = objects.longestWriteMs(healedMs, performance.now());
          healedAfter.push(backMs);
          failures.check(backMs <= BACK_MS_MAX, `${what}: ${Math.round(backMs)} ms without a write after healing`);
          const syncMs = await inSync(what);
          run.say(
            `${victim.name} cut off ${what}: back ${Math.round(backMs)} ms after healing, in sync after ${syncMs} ms`,
          );
        },
        "cut off",
      );
    }
    return timesOf("writes back after healing", healedAfter);
  },
});
