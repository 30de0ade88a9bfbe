import { at } from "../../http-client.js";
import { copiedRow } from "./copied-row.js";
import { msUntil, pause } from "./row-on-cluster.js";

/** After so long the others have noticed. */
const AWAY_MS = 5_000;

/**
 * R25: two of three nodes are gone, one after the other. Searches and reads go on, writes are 503 naming what is missing. When they are
 * back, so are writes.
 */
export const R25_CLUSTER = copiedRow({
  id: "R25",
  title: "all copies but one are lost, then the others come back",
  async act({ cluster, failures, objects, run, node, disturb, inSync }) {
    const [first, second] = [node(0), node(1)];
    return disturb([first, second], async () => {
      await first.kill();
      await pause(AWAY_MS);
      await second.kill();
      await pause(AWAY_MS);
      const failedBefore = objects.failedSearches.length;
      const body = { class: "Copied", properties: { n: 7 }, vector: [1, 0, 0] };
      const refused = await cluster.http.post("/v1/objects", body);
      const isRefused = refused.status === 503 && refused.text.includes("in sync") && refused.text.includes(first.name);
      failures.check(isRefused, `a write with one copy left: ${refused.status} ${refused.text}`);
      const { json } = await cluster.http.graphql("{ Get { Copied(limit: 1) { n _additional { id } } } }");
      const id = at(json, "data", "Get", "Copied", 0, "_additional", "id");
      const read = await cluster.http.get(`/v1/objects/${id}`);
      failures.check(read.status === 200, `a read with one copy left: ${read.status} ${read.text}`);
      await pause(run.size === "short" ? 500 : 20_000);
      failures.check(objects.failedSearches.length === failedBefore, "searches fail with one copy left");
      const backMs = performance.now();
      for (const one of [first, second]) one.spawn();
      for (const one of [first, second]) await one.ready();
      const written = objects.written.length;
      const writesMs = await msUntil(async () => objects.written.length > written, 30_000);
      failures.check(writesMs !== undefined, "writes are not taken again");
      await inSync("with all back");
      return { "writes back after (ms)": Math.round(performance.now() - backMs) };
    });
  },
});
