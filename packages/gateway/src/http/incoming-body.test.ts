import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { Metrics } from "@shoal/service-runtime/metrics";
import { describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const MIB = 1024 * 1024;
const HEAD = "POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

interface Sender {
  readonly socket: Socket;
  /** Statuses of all responses. */
  readonly statuses: () => readonly number[];
}

class Scene {
  readonly senders: Sender[] = [];

  constructor(
    readonly server: FakeGateway,
    readonly metrics: Metrics,
  ) {}

  send(bytes: string | Buffer): Sender {
    const socket = connect(this.server.port, "127.0.0.1");
    let received = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += String(chunk);
    });
    socket.write(bytes);
    const statuses = (): number[] => [...received.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => Number(status));
    const sender = { socket, statuses };
    this.senders.push(sender);
    return sender;
  }

  async metric(series: string): Promise<number> {
    const line = (await this.metrics.text()).split("\n").find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  }
}

async function using(settings: Parameters<typeof serveFakes>[0], run: (scene: Scene) => Promise<void>): Promise<void> {
  const metrics = new Metrics();
  const server = await serveFakes(settings, undefined, undefined, undefined, undefined, metrics);
  const scene = new Scene(server, metrics);
  try {
    await run(scene);
    for (const { socket } of scene.senders) socket.destroy();
    await expect.poll(() => scene.metric("shoal_http_held_bodies")).toBe(0);
    expect(await scene.metric("shoal_http_held_body_bytes")).toBe(0);
  } finally {
    for (const { socket } of scene.senders) socket.destroy();
    await server.gateway.stop();
  }
}

const post = { class: "Car", properties: { name: "x" } };

describe("S2: a body", () => {
  it("that stalls is answered with 408, and one that gets on slowly is not", () =>
    using({ bodyStallSeconds: 2 }, async (scene) => {
      const trickling = scene.send(`${HEAD}Content-Length: 100\r\n\r\n{`);
      const body = JSON.stringify({ class: "Car", properties: { name: "x".repeat(40_000) } });
      const slow = scene.send(`${HEAD}Content-Length: ${body.length}\r\n\r\n`);
      let at = 0;
      // A byte now and then is nothing; four kilobytes a second are enough.
      const timer = setInterval(() => {
        trickling.socket.write(" ");
        slow.socket.write(body.slice(at, at + 800));
        at += 800;
      }, 100);
      await expect.poll(trickling.statuses).toEqual([408]);
      await expect.poll(slow.statuses).toEqual([200]);
      clearInterval(timer);
      expect(await scene.metric('shoal_http_cut_bodies_total{reason="stalled"}')).toBe(1);
    }));

  it("that came slowest gives way when there are too many, and no new one is refused", () =>
    using({ requestBodiesMax: 3 }, async (scene) => {
      const stalled = Array.from({ length: 3 }, () => scene.send(`${HEAD}Content-Length: 9\r\n\r\n{`));
      await expect.poll(() => scene.metric("shoal_http_held_bodies")).toBe(3);
      // It takes a while until it is known that they do not get on.
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect((await scene.server.send("POST", "/v1/objects", post)).status).toBe(200);
      await expect.poll(() => stalled.map((one) => one.statuses()).toSorted()).toEqual([[], [], [429]]);
      expect(await scene.metric('shoal_http_cut_bodies_total{reason="gives_way"}')).toBe(1);
    }));

  it("that came slowest gives way when there is no room, and no new one is refused", () =>
    using({ requestBodiesBytesMax: 4 * MIB, requestBodyBytesMax: 4 * MIB }, async (scene) => {
      const stalled = scene.send(
        Buffer.concat([Buffer.from(`${HEAD}Content-Length: ${4 * MIB}\r\n\r\n`), Buffer.alloc(3 * MIB, " ")]),
      );
      await expect.poll(() => scene.metric("shoal_http_held_body_bytes")).toBe(3 * MIB);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      const large = { class: "Car", properties: { name: "x".repeat(2 * MIB) } };
      expect((await scene.server.send("POST", "/v1/objects", large)).status).toBe(200);
      await expect.poll(stalled.statuses).toEqual([429]);
    }));

  it("that is alone is taken, also when it is larger than all bodies together may be", () =>
    using({ requestBodyBytesMax: 2 * MIB, requestBodiesBytesMax: MIB }, async (scene) => {
      const text = JSON.stringify({ class: "Car", properties: { name: "x".repeat(1.5 * MIB) } });
      const sender = scene.send(`${HEAD}Content-Length: ${text.length}\r\n\r\n${text}`);
      await expect.poll(sender.statuses).toEqual([200]);
    }));

  it("is not in flight before all of it is there", () =>
    using({ requestsInFlightMax: 2 }, async (scene) => {
      for (let i = 0; i < 20; i++) scene.send(`${HEAD}Content-Length: 9\r\n\r\n{`);
      await expect.poll(() => scene.metric("shoal_http_held_bodies")).toBe(20);
      expect((await scene.server.send("POST", "/v1/objects", post)).status).toBe(200);
    }));

  it("of gzip holds what was sent of it, and inflates to a hundred times that and 32 MiB", () =>
    using({}, async (scene) => {
      const zipped = (body: Buffer): Buffer => {
        const packed = gzipSync(body);
        return Buffer.concat([
          Buffer.from(`${HEAD}Content-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`),
          packed,
        ]);
      };
      const bomb = zipped(Buffer.alloc(60 * MIB, " "));
      const half = scene.send(bomb.subarray(0, bomb.length - 10));
      await expect.poll(() => scene.metric("shoal_http_held_body_bytes")).toBeGreaterThan(40_000);
      expect(await scene.metric("shoal_http_held_body_bytes")).toBeLessThan(100_000);
      half.socket.write(bomb.subarray(bomb.length - 10));
      await expect.poll(half.statuses).toEqual([413]);
      // A thousand times smaller, and still a body that somebody may send.
      const zeros = JSON.stringify({ class: "Car", properties: { name: "x" }, vector: new Array(60_000).fill(0) });
      const real = scene.send(zipped(Buffer.from(zeros.padEnd(8 * MIB, " "))));
      await expect.poll(real.statuses).toEqual([200]);
    }));
});
