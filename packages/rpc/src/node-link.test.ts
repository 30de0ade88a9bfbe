import { Client, credentials } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { connectNode } from "./client/node-channel.js";
import { deliveryOf } from "./delivery.js";
import { createRpcServer } from "./server/rpc-server.js";
import { openCable } from "./testing/open-cable.js";
import { openLink, reach } from "./testing/open-link.js";
import { RandomValues } from "./testing/random-values.js";
import { scriptedNode } from "./testing/scripted-node.js";
import { decodePacket, encodePacket, FrameKind, SHARDS } from "./wire/packet-codec.js";

const seed = Number(process.env.RPC_SEED) || 5;
const forever = { deadline: Number.POSITIVE_INFINITY };
const shard = { classId: "c", className: "Car", shardName: "s" };
const now = () => Date.now();
const never = () => new Promise<never>(() => undefined);

function failureOf(response: Promise<unknown>): Promise<ShoalError> {
  return response.then(
    () => new ShoalError("internal", "it was answered"),
    (error) => error,
  );
}

function batch(objects: number, chars: number) {
  const values = new RandomValues(seededRandom(seed));
  const text = "x".repeat(chars);
  return Array.from({ length: objects }, () => ({
    id: values.id(),
    className: "Car",
    properties: { text },
    vector: undefined,
    extras: undefined,
  }));
}

describe("a link to a node", () => {
  test("answers small requests while a batch of 20 MB is on its way", async () => {
    let isWritten = false;
    const node = scriptedNode(({ method }) => {
      if (method !== "putObjects") return [];
      isWritten = true;
      return [];
    });
    await using link = await openLink(node);
    const written = link.client.putObjects(shard, batch(1_000, 20_000), "upsert", forever);
    await link.client.shardStatuses(forever);
    expect(isWritten).toBe(false);
    await written;
    expect(node.calls.find(({ method }) => method === "putObjects")?.request[1]).toHaveLength(1_000);
  });

  test("ends requests whose deadline has passed, on both sides", async () => {
    const node = scriptedNode(never);
    await using link = await openLink(node);
    const error = await failureOf(
      link.client.deleteObject(shard, batch(1, 1)[0]?.id as never, { deadline: now() + 60 }),
    );
    expect(error.code).toBe("deadlineExceeded");
    // Whichever side looks first says so.
    expect(error.message).toMatch(/^(shard 's' of class 'Car' on node 'node-1'|the node) has not answered in time$/);
    await expect.poll(() => node.calls[0]?.context.signal?.aborted).toBe(true);
    expect((await failureOf(link.client.shardStatuses({ deadline: now() - 1 }))).code).toBe("deadlineExceeded");
    expect(node.calls).toHaveLength(1);
  });

  test("does not wait in a drain for requests that nobody waits for", async () => {
    const node = scriptedNode(never);
    await using link = await openLink(node);
    const abort = new AbortController();
    const late = failureOf(link.client.shardStatuses({ deadline: now() + 60 }));
    const left = failureOf(link.client.shardStatuses({ ...forever, signal: abort.signal }));
    await expect.poll(() => node.calls.length).toBe(2);
    abort.abort(new ShoalError("unavailable", "the client has gone"));
    expect([(await late).code, (await left).message]).toEqual(["deadlineExceeded", "the client has gone"]);
    await link.server.drain();
  });

  test("tells of requests that were lost whether they may have been carried out", async () => {
    const node = scriptedNode(never);
    await using link = await openLink(node);
    const lost = failureOf(link.client.shardStatuses(forever));
    await expect.poll(() => node.calls.length).toBe(1);
    const unsent = failureOf(link.client.shardStatuses(forever));
    await link.server[Symbol.asyncDispose]();
    const [lostError, unsentError] = await Promise.all([lost, unsent]);
    expect(lostError.code).toBe("unavailable");
    expect(deliveryOf(lostError)).toBe("unknown");
    expect(unsentError.code).toBe("unavailable");
    await reach(link.client, "unreachable");
    const later = await failureOf(link.client.shardStatuses(forever));
    expect([later.code, deliveryOf(later)]).toEqual(["unavailable", "never"]);
    expect(node.calls[0]?.context.signal?.aborted).toBe(true);
  });

  test("is made again when the node is back at its address", async () => {
    const link = await openLink(scriptedNode(() => []));
    await link.server[Symbol.asyncDispose]();
    await reach(link.client, "unreachable");
    const options = { host: "127.0.0.1", port: link.server.port, now };
    await using _back = await createRpcServer({ node: scriptedNode(() => [1] as never) }, options);
    await reach(link.client, "ready");
    await expect(failureOf(link.client.shardStatuses(forever))).resolves.toBeInstanceOf(ShoalError);
    link.client[Symbol.dispose]();
  });

  test("is tried at once when somebody wants it, while it would pause", async () => {
    const link = await openLink(scriptedNode(() => []));
    const { port } = link.server;
    using client = link.client;
    expect(client.retry()).toBe(false);
    await link.server[Symbol.asyncDispose]();
    // After some attempts it pauses for a second.
    for (let failed = 0; failed < 6; failed++) await reach(client, "unreachable", true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.retry()).toBe(true);
    await reach(client, "unreachable", true);
    expect(client.retry()).toBe(false);
    await using _back = await createRpcServer({ node: scriptedNode(() => []) }, { host: "127.0.0.1", port, now });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.retry()).toBe(true);
    expect(client.retry()).toBe(true);
    await reach(client, "ready");
    expect(client.retry()).toBe(false);
  });

  test("is given up when the other side falls silent, and made again", async () => {
    const node = scriptedNode(never);
    await using server = await createRpcServer({ node }, { host: "127.0.0.1", port: 0, now });
    await using cable = await openCable(server.port);
    using client = connectNode("node-1", `127.0.0.1:${cable.port}`, { now, schemaVersion: () => 0 });
    await reach(client, "ready");
    const lost = failureOf(client.shardStatuses(forever));
    await expect.poll(() => node.calls.length).toBe(1);
    cable.cut();
    expect(deliveryOf(await lost)).toBe("unknown");
    expect(client.state).toBe("unreachable");
    cable.mend();
    await reach(client, "ready");
  });

  test("is not made to another node", async () => {
    const options = { host: "127.0.0.1", port: 0, now };
    await using server = await createRpcServer({ node: scriptedNode(() => [], "node-2") }, options);
    using client = connectNode("node-1", `127.0.0.1:${server.port}`, { now, schemaVersion: () => 0 });
    await reach(client, "unreachable");
    expect((await failureOf(client.shardStatuses(forever))).message).toContain(
      "it is node 'node-2' that answers there",
    );
  });

  test("learns of a drain, which answers what was begun and takes nothing new", async () => {
    let response: (statuses: unknown) => void = () => undefined;
    const node = scriptedNode(() => new Promise((resolve) => (response = resolve)));
    await using link = await openLink(node);
    const begun = link.client.shardStatuses(forever);
    await expect.poll(() => node.calls.length).toBe(1);
    let isDrained = false;
    const drained = link.server.drain().then(() => (isDrained = true));
    await reach(link.client, "draining");
    const refused = await failureOf(link.client.shardStatuses(forever));
    expect([refused.code, deliveryOf(refused)]).toEqual(["unavailable", "never"]);
    expect(isDrained).toBe(false);
    response([]);
    expect(await begun).toEqual([]);
    await drained;
    expect(node.calls).toHaveLength(1);
  });

  test("learns of the drain of a node that has nothing to do and ends at once", async () => {
    for (let round = 0; round < 10; round++) {
      const link = await openLink(scriptedNode(() => []));
      const states: string[] = [];
      link.client.onState((state) => states.push(state));
      await link.server.drain();
      await link.server[Symbol.asyncDispose]();
      await reach(link.client, "unreachable");
      link.client[Symbol.dispose]();
      expect(states[0]).toBe("draining");
    }
  });

  test("is never ready at a node that is being stopped", async () => {
    let response: (statuses: unknown) => void = () => undefined;
    const node = scriptedNode(() => new Promise((resolve) => (response = resolve)));
    await using link = await openLink(node);
    const begun = link.client.shardStatuses(forever);
    await expect.poll(() => node.calls.length).toBe(1);
    const drained = link.server.drain();
    const states = new Set<string>();
    for (let round = 0; round < 10; round++) {
      using late = connectNode("node-1", `127.0.0.1:${link.server.port}`, { now, schemaVersion: () => 0 });
      late.onState((state) => states.add(state));
      await reach(late, "draining");
      // Long enough for the greetings of both streams.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect([...states]).not.toContain("ready");
    response([]);
    await Promise.all([begun, drained]);
  });

  test("carries the version of the schema both ways", async () => {
    const node = scriptedNode(() => []);
    node.schemaVersion = 4;
    const reported: number[] = [];
    let known = 3;
    const client = { schemaVersion: () => known, onNodeSchemaVersion: (version: number) => reported.push(version) };
    await using link = await openLink(node, { client });
    await link.client.shardStatuses(forever);
    known = 9;
    await link.client.shardStatuses(forever);
    expect(node.caughtUp).toEqual([9]);
    expect(reported).toEqual([4, 4, 4, 9]);
    node.atSchemaVersion = () => Promise.reject(new ShoalError("unavailable", "no coordinator"));
    known = 10;
    const error = await failureOf(link.client.shardStatuses(forever));
    expect([error.message, deliveryOf(error)]).toEqual(["no coordinator", "never"]);
    expect(node.calls).toHaveLength(2);
  });

  test("counts rows as they arrive, and gives up an answer that finds no room", async () => {
    const values = new RandomValues(seededRandom(seed));
    const row = { ...values.storedObject(), propertiesJson: Buffer.alloc(100_000, "1"), vector: undefined };
    await using link = await openLink(scriptedNode(() => Array.from({ length: 50 }, () => row)));
    const fields = { properties: true, vector: false, extras: false };
    let held = 0;
    const rowBytes = {
      add(bytes: number) {
        if (held + bytes > 6_000_000) throw new ShoalError("overloaded", "no room");
        held += bytes;
      },
    };
    await link.client.getObjects(shard, [row.id], fields, { ...forever, rowBytes });
    expect(held).toBeGreaterThanOrEqual(5_000_000);
    expect(held).toBeLessThan(5_100_000);
    const refused = link.client.getObjects(shard, [row.id], fields, { ...forever, rowBytes });
    expect((await failureOf(refused)).message).toBe("no room");
    // The link is as good as before.
    held = 0;
    expect(await link.client.getObjects(shard, [row.id], fields, { ...forever, rowBytes })).toHaveLength(50);
  });

  test("refuses what is larger than its limits, on either side", async () => {
    const node = scriptedNode(() => batch(10, 1_000).map(({ id }) => id));
    const small = { limits: { messageBytesMax: 100 } };
    await using clientSmall = await openLink(node, { client: small });
    const tooLarge = await failureOf(clientSmall.client.putObjects(shard, batch(1, 200), "upsert", forever));
    expect(tooLarge.code).toBe("tooLarge");
    expect(tooLarge.message).toMatch(/'node-1' has \d+ bytes, at most 100 are sent \(INTERNAL_MESSAGE_BYTES_MAX\)/);
    await using serverSmall = await openLink(node, { server: small });
    const response = serverSmall.client.matchingIds(shard, { operator: "And", operands: [] }, 10, forever);
    expect(await failureOf(response)).toMatchObject({
      code: "tooLarge",
      message: expect.stringContaining("at most 100 are sent (INTERNAL_MESSAGE_BYTES_MAX)"),
    });
    expect(await failureOf(serverSmall.client.deleteObject(shard, batch(1, 1)[0]?.id as never, forever))).toBeDefined();
  });

  test.each(["client", "server"])("refuses more requests than may be under way (%s side)", async (side) => {
    const waiting: (() => void)[] = [];
    const node = scriptedNode(() => new Promise((resolve) => waiting.push(() => resolve([]))));
    await using link = await openLink(node, { [side]: { limits: { requestsMax: 2 } } });
    const asked = [1, 2, 3].map(() => link.client.shardStatuses(forever));
    expect(await failureOf(asked[2] ?? Promise.resolve())).toMatchObject({
      code: "overloaded",
      retryAfterSeconds: 1,
      message: expect.stringMatching(/2 requests .*under way$/),
    });
    await expect.poll(() => waiting.length).toBe(2);
    for (const response of waiting) response();
    expect(await Promise.all(asked.slice(0, 2))).toEqual([[], []]);
  });

  test("stops reading while more is held than allowed, and goes on", async () => {
    const waiting: (() => void)[] = [];
    const node = scriptedNode(async ({ method }) => {
      if (method === "putObjects") await new Promise<void>((resolve) => waiting.push(resolve));
      return [];
    });
    await using link = await openLink(node, { server: { limits: { heldBytesMax: 2_000_000 } } });
    const writes = Array.from({ length: 20 }, () =>
      link.client.putObjects(shard, batch(50, 20_000), "upsert", forever),
    );
    await expect.poll(() => waiting.length).toBeGreaterThan(1);
    await link.client.shardStatuses(forever);
    expect(waiting.length).toBeLessThan(15);
    const open = setInterval(() => waiting.pop()?.(), 1);
    await Promise.all(writes);
    clearInterval(open);
  });
});

describe("the server", () => {
  test("S11: holds no more of unfinished requests than it may, and lets those that get on be complete", async () => {
    const MIB = 1024 * 1024;
    const node = scriptedNode(() => []);
    const messageBytesMax = 8 * MIB;
    await using link = await openLink(node, { server: { limits: { messageBytesMax } } });
    const { path, requestSerialize, responseDeserialize } = SHARDS.Talk;
    const client = new Client(`127.0.0.1:${link.server.port}`, credentials.createInsecure());
    const refused = new Set<number>();
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on("error", () => undefined);
    stream.on("data", (packet: Buffer) => {
      for (const { kind, request } of decodePacket(packet)) if (kind === FrameKind.FAILURE) refused.add(request);
    });
    for (let request = 1; request <= 30; request++) {
      const frame = { request, kind: FrameKind.REQUEST_PART, payload: Buffer.alloc(MIB) };
      stream.write(encodePacket([frame]));
    }
    // Of 30 MiB one caller may hold seven eighths of 8. What nothing has come of for longest gives way.
    await expect.poll(() => refused.size).toBe(23);
    expect(Math.max(...refused)).toBe(23);
    const written = await link.client.putObjects(shard, batch(190, 20_000), "upsert", forever);
    expect(written).toEqual([]);
    expect(refused.size).toBe(26);
    client.close();
  });

  test("refuses an answer with a value that it does not know, as of a newer node, and goes on", async () => {
    const report = { address: shard, name: "a/1", state: "OF_A_LATER_RELEASE", isPrimary: false, end: 1 };
    const node = scriptedNode(({ method }) => (method === "shardCopies" ? [report] : []));
    await using link = await openLink(node);
    const beside = link.client.shardSizes(forever);
    const refused = await failureOf(link.client.shardCopies(forever));
    expect([refused.code, refused.message]).toEqual(["internal", expect.stringContaining("no state of a copy")]);
    expect(await beside).toEqual([]);
    expect(await link.client.shardStatuses(forever)).toEqual([]);
  });

  test(`stands what is no message, seed ${seed}`, async () => {
    const { below } = seededRandom(seed);
    const node = scriptedNode(() => []);
    await using link = await openLink(node);
    const { path, requestSerialize, responseDeserialize } = SHARDS.Talk;
    for (let round = 0; round < 60; round++) {
      const client = new Client(`127.0.0.1:${link.server.port}`, credentials.createInsecure());
      const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
      const ended = new Promise((resolve) => stream.on("error", resolve).on("end", resolve));
      stream.on("data", () => undefined);
      for (let packet = 0; packet < 20; packet++) {
        const payload = Buffer.from(Array.from({ length: below(60) }, () => below(packet % 2 ? 256 : 14)));
        const kind = [FrameKind.REQUEST, FrameKind.REQUEST_PART, FrameKind.CANCEL, FrameKind.PING][below(4)] ?? 2;
        const frame = { request: below(4), kind, payload };
        stream.write(below(30) === 0 ? payload : encodePacket([frame]));
      }
      stream.end();
      await ended;
      client.close();
    }
    expect(await link.client.shardStatuses(forever)).toEqual([]);
  });
});
