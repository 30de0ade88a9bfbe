import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { freePort, ServerProcess } from "../server-process.js";

const PAGE = readFileSync(fileURLToPath(new URL("../../../deploy/METRICS.md", import.meta.url)), "utf8");

/** Names and labels of the table of the documentation; a second one is about the processes of a cluster. */
const [everywhere = ""] = PAGE.split("Processes of a cluster have these");
const promised = new Map(
  [...everywhere.matchAll(/^\| `(shoal_\w+)` \|([^|]*)\|/gm)].map(([, name = "", labels = ""]) => [
    name,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
  ]),
);

describe("METRICS_PORT", () => {
  it("serves exactly the metrics that deploy/METRICS.md promises, and probes", async () => {
    const port = await freePort();
    await using server = await ServerProcess.start({ env: { METRICS_PORT: String(port), DRAIN_DELAY_SECONDS: "1" } });
    const internal = `http://127.0.0.1:${port}`;
    const { http } = server;
    await http.post("/v1/schema", { class: "Stranger", properties: [{ name: "name", dataType: ["text"] }] });
    await http.post("/v1/batch/objects", { objects: [{ class: "Stranger", vector: [1] }, null] });
    await http.graphql("{ Get { Stranger { name } } }");
    await http.get("/v1/strange/path?strange=x");
    const answer = await fetch(`${internal}/metrics`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    const text = await answer.text();
    const declared = [...text.matchAll(/^# TYPE (shoal_\w+) /gm)].map(([, name]) => name);
    expect(declared.sort()).toEqual([...promised.keys()].sort());
    for (const [, name = "", labels = ""] of text.matchAll(
      /^(shoal_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$/gm,
    )) {
      const used = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== "le");
      expect(used.sort(), name).toEqual(promised.get(name));
    }
    expect(text).toMatch(/^shoal_objects 1$/m);
    expect(text).toMatch(/^shoal_shards\{status="ready"\} 1$/m);
    expect(text).toMatch(/^shoal_batch_items_total\{outcome="failed"\} 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    expect(text).not.toMatch(/strange/i);
    expect((await fetch(`${internal}/live`)).status).toBe(200);
    expect((await fetch(`${internal}/ready`)).status).toBe(200);
    expect((await fetch(`${internal}/v1/objects`)).status).toBe(404);
    expect((await http.get("/metrics")).status).toBe(404);
    const stopped = server.stop();
    await expect.poll(async () => (await fetch(`${internal}/ready`)).status).toBe(503);
    expect((await fetch(`${internal}/live`)).status).toBe(200);
    expect((await stopped).code).toBe(0);
  });

  it("is closed unless it is set, and one that is taken is told in one line", async () => {
    await using server = await ServerProcess.start();
    expect(server.output).not.toContain("metrics are served");
    const failing = ServerProcess.start({ env: { METRICS_PORT: String(server.port) } });
    await expect(failing).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+ \(METRICS_PORT\)/);
  });
});
