import { expect, it } from "vitest";
import { errorOf } from "../http-client.js";
import { withCluster } from "./cluster.js";

const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;

it("what goes between gateways and storage nodes is bounded by a setting, which refusals name", async () => {
  const env = { INTERNAL_MESSAGE_BYTES_MAX: String(MESSAGE_BYTES_MAX) };
  await withCluster({ gateways: 1, storageNodes: 1, etcdMembers: 0, env }, async (cluster) => {
    const { http } = cluster;
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
  });
});
