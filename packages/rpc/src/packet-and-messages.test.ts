import { ShoalError } from "@shoal/model";
import { Budget } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { FrameSender, type MessageKind, REQUEST_MESSAGE } from "./stream/frame-sender.js";
import { MessageAssembler } from "./stream/message-assembler.js";
import { decodePacket, encodePacket, FrameKind, PACKET, type WireFrame } from "./wire/packet-codec.js";

const seed = Number(process.env.RPC_SEED) || 11;

const KINDS = Object.values(FrameKind).filter((kind) => kind !== FrameKind.NONE);

function drawFrames(below: (below: number) => number): WireFrame[] {
  return Array.from({ length: below(6) }, () => ({
    request: [0, 1, 127, 128, 16_384, 2 ** 31, 2 ** 32 - 1][below(7)] ?? 0,
    kind: KINDS[below(KINDS.length)] ?? FrameKind.NONE,
    payload: Buffer.alloc([0, 1, 127, 128, 20_000][below(5)] ?? 0, below(256)),
  }));
}

/** Comparing bytes one by one takes a test minutes. */
function shown(frames: readonly WireFrame[]): readonly string[] {
  return frames.map(({ request, kind, payload }) => `${request} ${kind} ${payload.toString("hex")}`);
}

describe("packets", () => {
  test(`are what their description makes of them, both ways, seed ${seed}`, () => {
    const { below } = seededRandom(seed);
    for (let round = 0; round < 500; round++) {
      const frames = drawFrames(below);
      const packet = encodePacket(frames);
      expect(shown(PACKET.decode(packet).frames)).toEqual(shown(frames));
      expect(shown(decodePacket(packet))).toEqual(shown(frames));
      expect(shown(decodePacket(PACKET.encode({ frames })))).toEqual(shown(frames));
    }
  });

  test(`that are none are refused and nothing else, seed ${seed}`, () => {
    const { below } = seededRandom(seed);
    let refused = 0;
    for (let round = 0; round < 20_000; round++) {
      const packet = Buffer.from(encodePacket(drawFrames(below)).subarray(0, 200));
      for (let change = below(4); change >= 0 && packet.length > 0; change--) packet[below(packet.length)] = below(256);
      try {
        decodePacket(packet.subarray(0, below(packet.length + 1)));
      } catch (error) {
        expect(error).toBeInstanceOf(ShoalError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(5_000);
  });
});

/** A sender whose packets lie in a list until they are taken. */
function heldSender(bytesInFlightMax = 1, isPrompt?: boolean) {
  const packets: { frames: WireFrame[]; done: () => void }[] = [];
  const sender = new FrameSender({
    bytesInFlightMax,
    isPrompt,
    onRoom: () => undefined,
    write: (packet, done) => packets.push({ frames: decodePacket(packet), done }),
  });
  return { packets, sender };
}

const oneIteration = () => new Promise((resolve) => setImmediate(resolve));

/** After which a packet has left. */
async function iteration(): Promise<void> {
  await oneIteration();
  await oneIteration();
}

const KB = 1024;

describe("messages", () => {
  test(`come out whole, whatever their sizes and order, seed ${seed}`, async () => {
    const { below } = seededRandom(seed);
    for (let round = 0; round < 20; round++) {
      const { packets, sender } = heldSender(600 * KB);
      const assembler = new MessageAssembler(4096 * KB);
      const sent = new Map<number, Buffer>();
      const got = new Map<number, Buffer>();
      for (let request = 1; request <= 30; request++) {
        const payload = Buffer.alloc(below(4) === 0 ? below(3_000 * KB) : below(2_000), request);
        sent.set(request, payload);
        sender.send(request, REQUEST_MESSAGE, payload);
        if (below(3) === 0) await iteration();
      }
      for (let at = 0; at < packets.length || sender.unsentBytes > 0; at++) {
        while (packets[at] === undefined) await iteration();
        for (const { request, kind, payload } of packets[at]?.frames ?? []) {
          if (kind === FrameKind.REQUEST) got.set(request, assembler.complete(request, payload) ?? Buffer.alloc(0));
          else assembler.add(request, payload);
        }
        packets[at]?.done();
      }
      expect(got.size).toBe(30);
      for (const [request, payload] of sent) expect(got.get(request)?.equals(payload)).toBe(true);
    }
  });

  test("that are prompt leave with those of the same step, and wait for no iteration of the event loop", async () => {
    const { packets, sender } = heldSender(KB, true);
    sender.send(1, REQUEST_MESSAGE, Buffer.alloc(10));
    sender.send(2, REQUEST_MESSAGE, Buffer.alloc(10));
    await Promise.resolve();
    sender.send(3, REQUEST_MESSAGE, Buffer.alloc(10));
    await Promise.resolve();
    expect(packets.map(({ frames }) => frames.map(({ request }) => request))).toEqual([[1, 2], [3]]);
  });

  test("of two iterations of the event loop leave together, and what waited for room an iteration later", async () => {
    const { packets, sender } = heldSender();
    sender.send(1, REQUEST_MESSAGE, Buffer.alloc(10));
    await oneIteration();
    sender.send(2, REQUEST_MESSAGE, Buffer.alloc(10));
    expect(packets).toEqual([]);
    await oneIteration();
    expect(packets.map(({ frames }) => frames.map(({ request }) => request))).toEqual([[1, 2]]);
    sender.send(3, REQUEST_MESSAGE, Buffer.alloc(10));
    await iteration();
    expect(packets).toHaveLength(1);
    packets[0]?.done();
    await oneIteration();
    expect(packets).toHaveLength(2);
  });

  test("that are small do not wait for large ones", async () => {
    const { packets, sender } = heldSender();
    for (let request = 1; request <= 6; request++) sender.send(request, REQUEST_MESSAGE, Buffer.alloc(20_000 * KB));
    await iteration();
    sender.send(7, REQUEST_MESSAGE, Buffer.alloc(10));
    packets[0]?.done();
    await iteration();
    expect(packets[1]?.frames.map(({ request }) => request)).toEqual([7, 2]);
    // Four of them alternate, the others wait.
    for (let at = 1; at < 12; at++) {
      packets[at]?.done();
      await iteration();
    }
    expect(packets.slice(2, 10).flatMap(({ frames }) => frames.map(({ request }) => request))).toEqual([
      3, 4, 1, 2, 3, 4, 1, 2,
    ]);
  });

  test("leave no faster than they are taken", async () => {
    const { packets, sender } = heldSender(1_000 * KB);
    sender.send(1, REQUEST_MESSAGE, Buffer.alloc(20_000 * KB));
    for (let wait = 0; wait < 20; wait++) await iteration();
    expect(packets.length).toBe(4);
    packets[0]?.done();
    await iteration();
    expect(packets.length).toBe(5);
  });

  test("can be cancelled as far as they have not left", async () => {
    const { packets, sender } = heldSender();
    const kind: MessageKind = REQUEST_MESSAGE;
    sender.send(1, kind, Buffer.alloc(600 * KB));
    sender.send(2, kind, Buffer.alloc(10));
    sender.send(3, kind, Buffer.alloc(600 * KB));
    sender.send(4, kind, Buffer.alloc(10));
    expect(sender.takeBack(4)).toBe("all");
    await iteration();
    expect([1, 2, 3].map((request) => sender.takeBack(request))).toEqual(["rest", "none", "all"]);
    packets[0]?.done();
    await iteration();
    expect(packets).toHaveLength(1);
    expect(sender.unsentBytes).toBe(0);
  });

  test("beyond a bound are refused, and so are too many at the same time", () => {
    const assembler = new MessageAssembler(100);
    assembler.add(1, Buffer.alloc(60));
    expect(() => assembler.complete(1, Buffer.alloc(41))).toThrow("more than 100 bytes");
    expect(() => assembler.complete(2, Buffer.alloc(101))).toThrow("more than 100 bytes");
    expect(() => {
      for (let request = 10; request < 100; request++) assembler.add(request, Buffer.alloc(1));
    }).toThrow("at the same time");
  });

  test("that are cut off for others are passed over; only who sends on too many of them fails", () => {
    const budget = new Budget(1_000);
    let parts = 0;
    const assembler = (owner: string) =>
      new MessageAssembler(1_000, { budget, share: { owner, connection: 0 }, order: () => ++parts });
    const [greedy, modest] = [assembler("greedy"), assembler("modest")];
    for (let request = 0; request < 1_024; request++) greedy.add(request, Buffer.alloc(600));
    // All but the last one have been cut off.
    expect(greedy.complete(0, Buffer.alloc(10))).toBeUndefined();
    greedy.add(1, Buffer.alloc(600));
    greedy.forget(1);
    expect(greedy.complete(1, Buffer.alloc(10))).toHaveLength(10);
    for (let request = 2_000; request < 2_003; request++) greedy.add(request, Buffer.alloc(600));
    expect(() => greedy.add(3_000, Buffer.alloc(600))).toThrow("1024 requests are sent on that were refused");
    modest.add(1, Buffer.alloc(500));
    expect(modest.complete(1, Buffer.alloc(10))).toHaveLength(510);
  });
});
