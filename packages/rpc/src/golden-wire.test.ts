import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";
import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { METHOD_OF_CODE } from "./far/shard-methods.js";
import {
  encodeFailure,
  encodeHello,
  PROTOCOL_VERSION,
  readFailure,
  readHello,
  readRequestHead,
  writeRequestHead,
} from "./stream/message-head.js";
import { drawMessages, type WireMessage } from "./testing/random-messages.js";
import { RandomValues } from "./testing/random-values.js";
import { ByteReader } from "./wire/byte-reader.js";
import { ByteWriter } from "./wire/byte-writer.js";

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const MESSAGES = pathOf(`golden/messages-${PROTOCOL_VERSION}.txt`);
const FIELDS = pathOf("golden/fields.txt");
const ROUNDS = 6;

const methods = new Map([...METHOD_OF_CODE.values()].map((method) => [method.name, method]));

/** Read by what reads such messages, and written again. */
function again({ name, request, answer }: WireMessage): WireMessage {
  const whole = <Value>(bytes: Buffer, read: (reader: ByteReader) => Value): Value => {
    const reader = new ByteReader(bytes);
    const value = read(reader);
    reader.end();
    return value;
  };
  const written = ByteWriter.bytesOf;
  if (name === "hello") return { name, request: encodeHello(whole(request, readHello)), answer };
  if (name === "failure") return { name, request: encodeFailure(whole(request, readFailure)), answer };
  if (name === "head") {
    const head = whole(request, readRequestHead);
    return { name, request: written((writer) => writeRequestHead(writer, head)), answer };
  }
  const method = methods.get(name);
  if (method === undefined) throw new Error(`there is no method ${name} any more`);
  const asked = whole(request, method.readRequest);
  const answered = whole(answer, (reader) => method.readAnswer(reader, asked));
  return {
    name,
    request: written((writer) => method.writeRequest(writer, asked)),
    answer: written((writer) => method.writeAnswer(writer, answered, asked)),
  };
}

function lineOf({ name, request, answer }: WireMessage): string {
  return `${name} ${request.toString("base64")} ${answer.toString("base64")}`.trimEnd();
}

function messageOf(line: string): WireMessage {
  const [name = "", request = "", answer = ""] = line.split(" ");
  return { name, request: Buffer.from(request, "base64"), answer: Buffer.from(answer, "base64") };
}

function drawn(): string {
  const values = new RandomValues(seededRandom(PROTOCOL_VERSION));
  return Array.from({ length: ROUNDS }, () => drawMessages(values).map((one) => `${lineOf(one)}\n`))
    .flat()
    .join("");
}

test("every method and frame has the bytes of this version of the protocol (else: the version rises)", async () => {
  // The first run after the version rose writes what holds from then on.
  const golden = existsSync(MESSAGES) ? readFileSync(MESSAGES, "utf8") : drawn();
  if (!existsSync(MESSAGES)) await expect(golden).toMatchFileSnapshot(MESSAGES);
  const lines = golden.trimEnd().split("\n");
  const seen = new Set<string>();
  for (const line of lines) {
    const message = messageOf(line);
    seen.add(message.name);
    expect(lineOf(again(message))).toBe(line);
  }
  expect([...seen].sort()).toEqual(["hello", "head", "failure", ...methods.keys()].sort());
});

/** Calls and fields of all protos, a line each. */
function fields(): readonly string[] {
  const protos = ["frames", "schema", "nodes", "jobs", "extensions", "access"].map((name) => `shoal/${name}.proto`);
  const loaded = loadSync(protos, { includeDirs: [pathOf("../../protos")], enums: String });
  return Object.entries(loaded).flatMap(([name, definition]) => {
    if (!("type" in definition)) {
      return Object.values(definition).map(
        ({ path, requestType, responseType, requestStream, responseStream }) =>
          `${path} ${requestStream ? "stream " : ""}${nameOf(requestType)} ${responseStream ? "stream " : ""}${nameOf(responseType)}`,
      );
    }
    const { field = [], value = [] } = definition.type as {
      readonly field?: readonly Field[];
      readonly value?: readonly { readonly name: string; readonly number: number }[];
    };
    return [
      ...field.map((one) => `${name} ${one.number} ${one.name} ${one.label} ${one.typeName || one.type}`),
      ...value.map((one) => `${name} ${one.number} ${one.name}`),
    ];
  });
}

interface Field {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName: string;
}

function nameOf(type: { readonly type: object }): string {
  return (type.type as { readonly name: string }).name;
}

test("calls and fields of the protos are never changed nor taken away (new ones: --update)", async () => {
  const golden = existsSync(FIELDS) ? readFileSync(FIELDS, "utf8").trimEnd().split("\n") : [];
  const now = fields();
  expect(golden.filter((line) => !now.includes(line))).toEqual([]);
  await expect(`${now.join("\n")}\n`).toMatchFileSnapshot(FIELDS);
});
