import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { SHARD_METHODS } from "./shard-methods.js";
import { failure, hello, PROTOCOL_VERSION, requestHead } from "./stream/message-head.js";
import { drawMessages, type WireMessage } from "./testing/random-messages.js";
import { RandomValues } from "./testing/random-values.js";
import { ByteReader } from "./wire/byte-reader.js";
import { ByteWriter } from "./wire/byte-writer.js";
import type { Codec } from "./wire/codec.js";
import { nodeMessage } from "./wire/copy-codec.js";
import { FrameKind, PACKET, PEERS, SHARDS } from "./wire/packet-codec.js";
import type { Field } from "./wire/protobuf.js";
import { ACCESS, COPIES, EXTENSIONS, IDENTITY, JOBS, NODES, SCHEMA } from "./wire/services.js";

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const MESSAGES = pathOf(`golden/messages-${PROTOCOL_VERSION}.txt`);
const FIELDS = pathOf("golden/fields.txt");
const ROUNDS = 6;

const methods = new Map(SHARD_METHODS.map((method) => [method.name, method]));
const alone = new Map(
  Object.entries({ hello, head: requestHead, failure, moved: failure, message: nodeMessage } as Record<
    string,
    Codec<unknown>
  >),
);

/** Read by what reads such messages, and written again. */
function again({ name, request, response }: WireMessage): WireMessage {
  const whole = <Value>(bytes: Buffer, read: (reader: ByteReader) => Value): Value => {
    const reader = new ByteReader(bytes);
    const value = read(reader);
    reader.end();
    return value;
  };
  const codec = alone.get(name);
  if (codec !== undefined) {
    const value = whole(request, codec);
    return { name, request: ByteWriter.bytesOf((writer) => codec(writer, value)), response };
  }
  const method = methods.get(name);
  if (method === undefined) throw new Error(`there is no method ${name} any more`);
  const asked = whole(request, method.request);
  const responded = whole(response, (reader) => method.response(reader, undefined, asked));
  return {
    name,
    request: ByteWriter.bytesOf((writer) => method.request(writer, asked)),
    response: ByteWriter.bytesOf((writer) => method.response(writer, responded, asked)),
  };
}

function lineOf({ name, request, response }: WireMessage): string {
  return `${name} ${request.toString("base64")} ${response.toString("base64")}`.trimEnd();
}

function messageOf(line: string): WireMessage {
  const [name = "", request = "", response = ""] = line.split(" ");
  return { name, request: Buffer.from(request, "base64"), response: Buffer.from(response, "base64") };
}

/** Lines of random messages that have none of those names. */
function drawn(but: ReadonlySet<string>): string {
  const values = new RandomValues(seededRandom(PROTOCOL_VERSION));
  return Array.from({ length: ROUNDS }, () => drawMessages(values))
    .flat()
    .filter(({ name }) => !but.has(name))
    .map((one) => `${lineOf(one)}\n`)
    .join("");
}

test("every method and frame has the bytes of this version of the protocol (else: the version rises; new ones: --update)", async () => {
  // The first run after the version rose writes what holds from then on. Of new methods and frames `--update` adds lines.
  const before = existsSync(MESSAGES) ? readFileSync(MESSAGES, "utf8") : "";
  const golden = before + drawn(new Set(before.split("\n").map((line) => messageOf(line).name)));
  await expect(golden).toMatchFileSnapshot(MESSAGES);
  const lines = golden.trimEnd().split("\n");
  const seen = new Set<string>();
  for (const line of lines) {
    const message = messageOf(line);
    seen.add(message.name);
    expect(lineOf(again(message))).toBe(line);
  }
  expect([...seen].sort()).toEqual([...alone.keys(), ...methods.keys()].sort());
});

interface Described {
  readonly name: string;
  readonly fields?: Readonly<Record<string, Field<unknown, never>>>;
}

/** A field a line, with those of the messages in it. */
function fieldsOf({ name, fields = {} }: Described): readonly string[] {
  return Object.entries(fields).flatMap(([member, { number, isRepeated, type }]) => [
    `shoal.${name} ${number} ${member} ${isRepeated ? "LABEL_REPEATED" : "LABEL_OPTIONAL"} ${type.name}`,
    ...fieldsOf(type),
  ]);
}

/** Calls and fields of all services, a line each. */
function callsAndFields(): ReadonlySet<string> {
  const calls = [SCHEMA, NODES, IDENTITY, JOBS, EXTENSIONS, ACCESS, COPIES].flatMap((service) =>
    Object.values(service),
  );
  return new Set([
    ...[SHARDS.Talk, PEERS.Deliver].map(({ path }) => `${path} stream ${PACKET.name} stream ${PACKET.name}`),
    ...fieldsOf(PACKET),
    ...Object.entries(FrameKind).map(([kind, number]) => `shoal.FrameKind ${number} ${kind}`),
    ...calls.flatMap(({ path, request, response, responseStream }) => [
      `${path} ${request.name} ${responseStream ? "stream " : ""}${response.name}`,
      ...fieldsOf(request),
      ...fieldsOf(response),
    ]),
  ]);
}

test("calls and fields are never changed nor taken away (new ones: --update)", async () => {
  const golden = existsSync(FIELDS) ? readFileSync(FIELDS, "utf8").trimEnd().split("\n") : [];
  const now = callsAndFields();
  expect(golden.filter((line) => !now.has(line))).toEqual([]);
  await expect(`${[...new Set([...golden, ...now])].join("\n")}\n`).toMatchFileSnapshot(FIELDS);
});
