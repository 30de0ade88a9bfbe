import { ShoalError } from "@shoal/model";
import { INCOMPLETE } from "@shoal/replication";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { NodeMessage } from "./copy-service.js";
import { ShardMoved } from "./shard-moved.js";
import { RandomValues } from "./testing/random-values.js";
import { ByteReader } from "./wire/byte-reader.js";
import { ByteWriter } from "./wire/byte-writer.js";
import { nodeMessage } from "./wire/copy-codec.js";
import { error } from "./wire/error-codec.js";

const seed = Number(process.env.RPC_SEED) || 11;

function bytesOf(message: NodeMessage): Buffer {
  return ByteWriter.bytesOf((writer) => nodeMessage(writer, message));
}

function read(bytes: Buffer): NodeMessage {
  const reader = new ByteReader(bytes);
  const message = nodeMessage(reader);
  reader.end();
  return message;
}

describe("messages between storage nodes", () => {
  test(`of every type come out as they went in, seed ${seed}`, () => {
    const values = new RandomValues(seededRandom(seed));
    for (let round = 0; round < 200; round++) {
      for (const message of values.nodeMessages()) expect(read(bytesOf(message))).toEqual(message);
    }
  });

  test("are those of before they told of memory while there is enough of it", () => {
    const heartbeat = { stamp: { run: "r", at: 1.5 }, echo: undefined, holds: new Map([["n3", 2]]) };
    const memory = { level: "full", usedBytes: 300, bytesMax: 310 } as const;
    const [before, short] = [{}, { memory }].map((more) => bytesOf({ type: "heartbeat", heartbeat, ...more }));
    if (before === undefined || short === undefined) throw new Error("there are two");
    expect(bytesOf({ type: "heartbeat", heartbeat, memory: undefined })).toEqual(before);
    expect(short.subarray(0, before.length)).toEqual(before);
    expect([read(before), read(short)]).toEqual([
      { type: "heartbeat", heartbeat },
      { type: "heartbeat", heartbeat, memory },
    ]);
  });

  test("carry the lead of a primary that has not begun its epoch: it does not know what is committed", () => {
    const message: NodeMessage = {
      ...{ type: "copy", shard: "c/s", from: "n1/a", to: "n2/b" },
      message: {
        ...{ type: "lead", epoch: 2, lead: 1, needs: new Map([["n2", 1]]), run: "r", receiver: "q" },
        ...{ committed: -1, version: 3, start: 7 },
      },
    };
    expect(read(bytesOf(message))).toEqual(message);
  });

  test(`that are none are refused and nothing else, seed ${seed}`, () => {
    const random = seededRandom(seed);
    const values = new RandomValues(random);
    let refused = 0;
    for (let round = 0; round < 2_000; round++) {
      const bytes = bytesOf(random.pick(values.nodeMessages()));
      for (let change = random.below(4); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
      try {
        read(bytes.subarray(0, random.below(bytes.length + 1)));
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ShoalError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(500);
  });

  test("carry rows as bytes: empty ones, those of deleted objects, and large ones, which are not copied again", () => {
    const document = "8d7e3a1c-0000-4000-8000-00000000000f";
    const rows = [Buffer.alloc(0), undefined, Buffer.alloc(3_000_000, 7)].map((row) => ({ document, row }));
    const last = { end: { epoch: 1, sequence: 9 }, epochs: [{ epoch: 1, first: 1 }], through: INCOMPLETE };
    const message: NodeMessage = {
      ...{ type: "copy", shard: "c/s", from: "n1/a", to: "n2/b" },
      message: { type: "rows", epoch: 1, session: "s", index: 0, common: last.end, isFull: true, rows, last },
    };
    const bytes = bytesOf(message);
    const again = read(bytes);
    if (again.type !== "copy" || again.message.type !== "rows") throw new Error("it is another message");
    const [empty, deleted, large] = again.message.rows.map(({ row }) => row);
    expect([empty, deleted]).toEqual([Buffer.alloc(0), undefined]);
    expect((large as Buffer).buffer).toBe(bytes.buffer);
    expect((large as Buffer).equals(rows[2]?.row as Buffer)).toBe(true);
    expect(again.message.last).toEqual(last);
  });
});

describe("an error that says where a shard is", () => {
  const sent = (value: ShoalError): ShoalError => {
    const reader = new ByteReader(ByteWriter.bytesOf((writer) => error(writer, value)));
    const read = error(reader);
    reader.end();
    return read;
  };

  test("comes out as it went in, with and without a configuration", () => {
    const configuration = new RandomValues(seededRandom(seed)).configuration();
    for (const moved of [
      new ShardMoved("shard 's' has its primary on node 'n2'", configuration),
      new ShardMoved("no lease"),
      new ShardMoved("no lease", undefined, { retryAfterSeconds: 1.5 }),
    ]) {
      const read = sent(moved);
      expect(read).toBeInstanceOf(ShardMoved);
      expect(read).toMatchObject({ code: "moved", message: moved.message, retryAfterSeconds: moved.retryAfterSeconds });
      expect((read as ShardMoved).configuration).toEqual(moved.configuration);
    }
  });

  test("is told from others by its code alone, whose bytes are what they were", () => {
    expect(sent(new ShoalError("moved", "x"))).toEqual(new ShardMoved("x"));
    const other = new ShoalError("unavailable", "x", { retryAfterSeconds: 2 });
    const bytes = ByteWriter.bytesOf((writer) => error(writer, other));
    expect(bytes.toString("hex")).toBe("090178010000000000000040");
    expect(sent(other)).not.toBeInstanceOf(ShardMoved);
  });
});
