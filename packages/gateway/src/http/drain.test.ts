import { Agent, request as httpRequest } from "node:http";
import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";

interface Responded {
  readonly status: number | undefined;
  readonly connection: string | undefined;
}

function get(server: FakeGateway, agent: Agent, path = `/v1/objects/${U}`): Promise<Responded> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ agent, port: server.port, path }, (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode, connection: response.headers.connection }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** `answered`, or the code of the error that a client of a new connection gets. */
function newcomer(server: FakeGateway): Promise<unknown> {
  return get(server, new Agent(), "/v1/.well-known/live").then(
    () => "answered",
    (error: NodeJS.ErrnoException) => error.code,
  );
}

describe("drain", () => {
  it("turns not ready first, finishes what is in flight, tells clients to go, and refuses new connections", async () => {
    const server = await serveFakes({ drainDelaySeconds: 1 });
    server.services.put({ id: U as ObjectId }, "{}");
    server.gateway.markReady();
    const agent = new Agent({ keepAlive: true });
    expect(await get(server, agent, "/v1/.well-known/ready")).toMatchObject({ status: 200, connection: "keep-alive" });
    let open = (): void => {};
    server.services.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const inFlight = get(server, agent);
    await expect.poll(() => server.services.contexts.length).toBe(1);
    const drained = server.gateway.drain();
    const events: string[] = [];
    void drained.then(() => events.push("drained"));
    expect(await get(server, agent, "/v1/.well-known/ready")).toMatchObject({ status: 503, connection: "keep-alive" });
    await expect.poll(() => newcomer(server)).toBe("ECONNREFUSED");
    expect(events).toEqual([]);
    open();
    expect(await inFlight).toMatchObject({ status: 200, connection: "close" });
    await drained;
    await server.gateway.stop();
    agent.destroy();
  });

  it("resets no request of clients that go on over keep-alive connections", async () => {
    const server = await serveFakes({ drainDelaySeconds: 0.5 });
    server.services.put({ id: U as ObjectId }, "{}");
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    let responded = 0;
    let refused = 0;
    const resets: unknown[] = [];
    const client = async (): Promise<void> => {
      while (refused === 0 && resets.length === 0) {
        try {
          const { status } = await get(server, agent);
          if (status === 200) responded++;
        } catch (error) {
          // The port is closed: where a load balancer would have gone elsewhere long ago.
          if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") refused++;
          else resets.push(error);
        }
      }
    };
    const clients = Array.from({ length: 16 }, client);
    await expect.poll(() => responded).toBeGreaterThan(100);
    await server.gateway.drain();
    await Promise.all(clients);
    expect(resets).toEqual([]);
    await server.gateway.stop();
    agent.destroy();
  });

  it("gives up on requests that never end", async () => {
    const server = await serveFakes({ drainTimeoutSeconds: 0.2 });
    server.services.put({ id: U as ObjectId }, "{}");
    server.services.gate = new Promise(() => {});
    const agent = new Agent();
    const inFlight = get(server, agent).catch(() => "cut");
    await expect.poll(() => server.services.contexts.length).toBe(1);
    const started = performance.now();
    await server.gateway.drain();
    await server.gateway.stop();
    expect(await inFlight).toBe("cut");
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
