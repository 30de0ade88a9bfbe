import { it } from "vitest";
import { acceptLoss, loseShards } from "../faults/lost-data-suite.js";
import { withCluster } from "./cluster.js";

it("F3, F11: a shard of a storage node that is lost, or a part of it, is unavailable and never empty", async () => {
  const options = { gateways: 1, storageNodes: 1, coordinators: 1, etcdMembers: 0 } as const;
  await withCluster(options, async (cluster) => {
    const node = cluster.member("storage-0");
    const keeper = {
      http: cluster.http,
      dataPath: node.dataPath,
      log: () => node.logTail(),
      stop: () => node.stop(),
      launch: (env?: Readonly<Record<string, string>>) => node.launch(env),
    };
    await loseShards(keeper);
    await acceptLoss(keeper);
  });
}, 240_000);
