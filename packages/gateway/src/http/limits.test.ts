import { connect, type Socket } from "node:net";
import type { ObjectId } from "@shoal/model";
import express from "express";
import { describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";

async function using(
  settings: Parameters<typeof serveFakes>[0],
  run: (server: FakeGateway) => Promise<void>,
  fallback?: Parameters<typeof serveFakes>[2],
): Promise<void> {
  const server = await serveFakes(settings, undefined, fallback);
  try {
    await run(server);
  } finally {
    await server.gateway.stop();
  }
}

describe("limits of the server", () => {
  it("refuses more requests at the same time than it may work on, but never a probe", () =>
    using({ requestsInFlightMax: 2 }, async (server) => {
      server.services.put({ id: U as ObjectId }, "{}");
      let open = (): void => {};
      server.services.gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const busy = [server.send("GET", `/v1/objects/${U}`), server.send("GET", `/v1/objects/${U}`)];
      await expect.poll(() => server.services.contexts.length).toBe(2);
      const refused = await server.send("GET", `/v1/objects/${U}`);
      expect(refused).toMatchObject({
        status: 429,
        body: '{"error":[{"message":"more than 2 requests at the same time (REQUESTS_IN_FLIGHT_MAX)"}]}\n',
      });
      expect(refused.headers.get("retry-after")).toBe("1");
      expect((await server.send("GET", "/v1/.well-known/live")).status).toBe(200);
      open();
      expect((await Promise.all(busy)).map(({ status }) => status)).toEqual([200, 200]);
      expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
    }));

  it("drops connections beyond the most it may hold while something is done for all of them", () =>
    using({ connectionsMax: 2 }, async (server) => {
      server.services.put({ id: U as ObjectId }, "{}");
      server.services.gate = new Promise(() => {});
      const held: Socket[] = [];
      for (let i = 0; i < 2; i++) {
        const socket = connect(server.port, "127.0.0.1");
        held.push(socket);
        socket.write(`GET /v1/objects/${U} HTTP/1.1\r\nHost: x\r\n\r\n`);
        await expect.poll(() => server.services.contexts.length).toBe(i + 1);
      }
      await expect(server.send("GET", "/v1/meta")).rejects.toThrow();
      for (const socket of held) socket.destroy();
      const status = () =>
        server.send("GET", "/v1/meta").then(
          (response) => response.status,
          () => "dropped",
        );
      await expect.poll(status).toBe(200);
    }));

  it("S11: closes the connections that were idle longest, of whoever has most, when there are nearly too many", () =>
    using({ connectionsMax: 8 }, async (server) => {
      const closed: number[] = [];
      const held: Socket[] = [];
      const open = async (name: number): Promise<void> => {
        const socket = connect(server.port, "127.0.0.1");
        held.push(socket);
        socket.on("error", () => {});
        socket.on("close", () => closed.push(name));
        socket.write("GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n");
        await new Promise((resolve) => socket.once("data", resolve));
      };
      for (let name = 0; name < 7; name++) await open(name);
      // The first one is used again: now the second one has been idle longest.
      held[0]?.write("GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n");
      await new Promise((resolve) => held[0]?.once("data", resolve));
      for (let name = 7; name < 10; name++) await open(name);
      await expect.poll(() => closed).toEqual([1, 2, 3]);
      for (const socket of held) socket.destroy();
    }));

  it("closes the connection of a client whose body it refused before the client sent it", () =>
    using({}, async (server) => {
      const head = "POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n";
      const response = await server.raw(head);
      expect(response?.status).toBe(415);
      expect(response?.headers.get("connection")).toBe("close");
    }));

  it("says which address it cannot listen on", () =>
    using({}, async (server) => {
      await expect(serveFakes({ port: server.port })).rejects.toThrow(
        new RegExp(`^cannot listen on 127.0.0.1:${server.port}: .*EADDRINUSE`),
      );
    }));
});

describe("the fallback", () => {
  it("takes what is outside of /v1, for instance an Express application", () => {
    const pages = express().get("/console", (_, response) => {
      response.send("hello");
    });
    return using(
      {},
      async (server) => {
        expect(await server.send("GET", "/console")).toMatchObject({ status: 200, body: "hello" });
        expect((await server.send("GET", "/v1/console")).body).toContain("path /v1/console was not found");
        expect((await server.send("GET", "/v1?x")).status).toBe(200);
        expect((await server.send("GET", "/v1000")).headers.get("x-powered-by")).toBe("Express");
      },
      pages,
    );
  });
});
