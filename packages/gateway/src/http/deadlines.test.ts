import { connect } from "node:net";
import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";

describe("a request that takes longer than it may", () => {
  it.each([
    ["GET", `/v1/objects/${U}`, undefined],
    ["GET", "/v1/objects", undefined],
    ["PUT", `/v1/objects/${U}`, { class: "Car", id: U }],
    ["POST", "/v1/graphql", { query: "{ Get { Car { name } } }" }],
  ])(
    "%s %s is answered with 504, whoever works on it is told, and what comes late is ignored",
    async (method, path, body) => {
      const server = await serveFakes({ requestTimeoutSeconds: 0.05 });
      try {
        const { services } = server;
        await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
        services.put({ id: U as ObjectId }, "{}");
        let open = (): void => {};
        services.gate = new Promise((resolve) => {
          open = resolve;
        });
        const sent = server.send(method, path, body);
        while (services.contexts.length === 0) await pause(5);
        const signal = services.contexts[0]?.signal;
        expect(signal?.aborted).toBe(false);
        expect(await sent).toMatchObject({
          status: 504,
          body: '{"error":[{"message":"the request took longer than 0.05 s (REQUEST_TIMEOUT_SECONDS)"}]}\n',
        });
        expect(signal?.aborted).toBe(true);
        expect(signal?.reason).toMatchObject({ code: "deadlineExceeded" });
        open();
        services.gate = undefined;
        expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
      } finally {
        await server.gateway.stop();
      }
    },
  );

  it("keeps its connection, on which the late result is no answer to the next request", async () => {
    const server = await serveFakes({ requestTimeoutSeconds: 0.05 });
    const socket = connect(server.port, "127.0.0.1");
    try {
      server.services.put({ id: U as ObjectId }, "{}");
      let open = (): void => {};
      server.services.gate = new Promise((resolve) => {
        open = resolve;
      });
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
      });
      const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      const get = `GET /v1/objects/${U} HTTP/1.1\r\nHost: x\r\n\r\n`;
      socket.write(get);
      await expect.poll(statuses).toEqual(["504"]);
      open();
      server.services.gate = undefined;
      socket.write(get);
      await expect.poll(statuses).toEqual(["504", "200"]);
      socket.end(get.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      await new Promise((resolve) => socket.once("close", resolve));
      expect(statuses()).toEqual(["504", "200", "200"]);
    } finally {
      socket.destroy();
      await server.gateway.stop();
    }
  });
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
