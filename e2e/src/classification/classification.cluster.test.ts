import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { withCluster } from "../cluster/cluster.js";
import { at, HttpClient } from "../http-client.js";
import { ended, importLabels, knownLabels, readItem, started } from "./known-labels.js";

it("gateways take over from one that was killed, and each item is classified once", async () => {
  const world = knownLabels(seededRandom(20261120).next, 4, 12_000);
  const sources = world.items.filter(({ label }) => label === undefined);
  await withCluster({ gateways: 2, storageNodes: 2, etcdMembers: 0 }, async (cluster) => {
    await importLabels(cluster.http, world);
    const id = await started(cluster.http, { type: "knn" });
    const [killed, other] = cluster.gateways;
    if (killed === undefined || other === undefined) throw new Error("there are not two gateways");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await killed.kill();
    const http = new HttpClient(other.url);
    expect(at((await http.get(`/v1/classifications/${id}`)).json, "status")).toBe("running");
    expect(await ended(http, id)).toMatchObject({
      status: "completed",
      meta: { count: sources.length, countSucceeded: sources.length },
    });
    for (const item of sources.filter((_, place) => place % 50 === 0)) {
      expect(await readItem(http, item.id)).toMatchObject({ count: 1, classification: { id } });
    }
  });
});
