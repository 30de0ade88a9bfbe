import { rmSync } from "node:fs";
import { copiedRow, timesOf } from "./copied-row.js";
import { pause } from "./row-on-cluster.js";

/** R18: a node is killed and comes back with an empty folder. No object is lost, its copies are made anew, and no search fails. */
function wiped(factor: number) {
  return copiedRow({
    id: "R18",
    title: `the disk of one of three nodes is wiped under load`,
    factor,
    async act({ run, node, disturb, inSync }) {
      const rounds = run.size === "short" ? 1 : 5;
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const victim = node(round);
        await disturb([victim], async () => {
          await victim.kill();
          rmSync(victim.dataPath, { recursive: true, force: true });
          await pause(1_000);
          await victim.launch();
          times.push(await inSync(`round ${round}`));
        });
        run.say(`${victim.name} wiped: all copies in sync ${times.at(-1)} ms after its start`);
      }
      return { rounds, ...timesOf("copies made anew within", times) };
    },
  });
}

export const R18_CLUSTER = wiped(3);
export const R18_TWO_CLUSTER = wiped(2);
