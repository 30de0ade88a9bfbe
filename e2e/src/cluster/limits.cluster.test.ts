import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { errorOf } from "../http-client.js";
import { withCluster } from "./cluster.js";

const REQUESTS_MAX = 10;
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const ID = "11111111-1111-1111-1111-111111111111";

it("what gateways and storage nodes have under way between them is bounded by settings, which refusals name", async () => {
  const env = {
    INTERNAL_REQUESTS_MAX: String(REQUESTS_MAX),
    INTERNAL_MESSAGE_BYTES_MAX: String(MESSAGE_BYTES_MAX),
  };
  await withCluster({ gateways: 1, storageNodes: 1, etcdMembers: 0, env }, async (cluster) => {
    const { http } = cluster;
    const node = cluster.member("storage-0");
    expect((await http.post("/v1/schema", { class: "Blob" })).status).toBe(200);
    // Each fits, and all of them do not.
    const text = "x".repeat(MESSAGE_BYTES_MAX / 8);
    for (let made = 0; made < 9; made++) {
      const stored = await http.post("/v1/objects", { class: "Blob", vector: [1], properties: { text } });
      expect(stored.status, stored.text.slice(0, 500)).toBe(200);
    }
    const list = await http.get("/v1/objects?class=Blob&limit=9");
    expect([list.status, errorOf(list)]).toEqual([413, expect.stringContaining("(INTERNAL_MESSAGE_BYTES_MAX)")]);
    expect((await http.get("/v1/objects?class=Blob&limit=7")).status).toBe(200);

    node.pause();
    // It goes on for a moment.
    await expect.poll(() => readFileSync(`/proc/${node.pid}/stat`, "utf8")).toContain(") T ");
    const asked = Array.from({ length: REQUESTS_MAX + 5 }, () => http.get(`/v1/objects/${ID}`));
    const refused = await Promise.race(asked);
    expect([refused.status, errorOf(refused)]).toEqual([429, expect.stringContaining("(INTERNAL_REQUESTS_MAX)")]);
    node.resume();
    // Those that were taken are answered.
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([404, 429]));
  });
});
