import { fromJSON, type MethodDefinition } from "@grpc/proto-loader";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { PACKET } from "./wire/packet-codec.js";
import { bool, bytes, type Field, field, message, optional, repeated, string, uint64 } from "./wire/protobuf.js";
import { ACCESS, EXTENSIONS, IDENTITY, JOBS, NODES, SCHEMA } from "./wire/services.js";

const seed = Number(process.env.RPC_SEED) || 7;

interface Described {
  readonly name: string;
  readonly fields: Readonly<Record<string, Field<unknown, never>>>;
  encode(given: never): Buffer;
  decode(encoded: Uint8Array): unknown;
}

const MESSAGES: readonly Described[] = [
  PACKET,
  ...[SCHEMA, NODES, IDENTITY, JOBS, EXTENSIONS, ACCESS].flatMap((service) =>
    Object.values(service).flatMap(({ request, response }): Described[] => [request, response]),
  ),
];

const NAME_OF_TYPE: Readonly<Record<string, string>> = {
  TYPE_STRING: "string",
  TYPE_UINT32: "uint32",
  TYPE_UINT64: "uint64",
  TYPE_BOOL: "bool",
  TYPE_BYTES: "bytes",
  FrameKind: "uint32",
};

/** The same description for protobuf.js, with those of the messages in it. */
function described({ name, fields }: Pick<Described, "name" | "fields">): [name: string, type: object][] {
  const inner: [string, object][] = [];
  const members = Object.entries(fields).map(([member, { number, isRepeated, type }]) => {
    if (type.fields !== undefined) inner.push(...described({ name: type.name, fields: type.fields }));
    const rule = isRepeated && { rule: "repeated" };
    return [member, { type: NAME_OF_TYPE[type.name] ?? type.name, id: number, ...rule }] as const;
  });
  return [[name, { fields: Object.fromEntries(members) }], ...inner];
}

function byProtobufJs(one: Described): MethodDefinition<object, object> {
  const types = Object.fromEntries(described(one));
  const echo = { methods: { Echo: { requestType: one.name, responseType: one.name } } };
  const nested = { ...types, Service: echo } as NonNullable<Parameters<typeof fromJSON>[0]["nested"]>;
  const loaded = fromJSON({ nested }, { longs: Number, defaults: true });
  return (loaded.Service as { Echo: MethodDefinition<object, object> }).Echo;
}

const NUMBERS = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 - 1];

function draw(random: SeededRandom, fields: Described["fields"]): object {
  const value = (type: Field<unknown, never>["type"]): unknown => {
    if (type.fields !== undefined) return draw(random, type.fields);
    if (type.name === "TYPE_STRING") return random.pick(["", "a", "Zürich 🐟", "x".repeat(200)]);
    if (type.name === "TYPE_BOOL") return random.below(2) === 1;
    if (type.name === "TYPE_BYTES") return Buffer.from(random.bytes(random.below(300)));
    return random.pick(type.name === "TYPE_UINT64" ? [...NUMBERS, 2 ** 53 - 1] : NUMBERS);
  };
  return Object.fromEntries(
    Object.entries(fields).map(([member, { isRepeated, type }]) => [
      member,
      isRepeated ? random.list(4, () => value(type)) : value(type),
    ]),
  );
}

test(`messages have the bytes of protobuf.js, and read its own, seed ${seed}`, () => {
  const random = seededRandom(seed);
  for (const one of MESSAGES) {
    const reference = byProtobufJs(one);
    for (let round = 0; round < 20; round++) {
      const value = draw(random, one.fields);
      const encoded = one.encode(value as never);
      expect(encoded.equals(reference.requestSerialize(value)), one.name).toBe(true);
      expect(one.decode(encoded), one.name).toEqual(value);
    }
    expect(one.decode(reference.requestSerialize({})), one.name).toEqual(one.decode(Buffer.alloc(0)));
  }
});

const OLD = message("Message", { name: field(1, string), inner: field(3, message("Inner", { of: field(1, string) })) });
const NEW = message("Message", {
  name: field(1, string),
  count: field(2, uint64),
  inner: field(3, message("Inner", { of: field(1, string), isLate: optional(2, bool) })),
  parts: repeated(20, bytes),
});

test("fields of a later version are passed over, and those of it are absent in earlier ones", () => {
  const given = { name: "a", count: 2 ** 50, inner: { of: "b", isLate: true }, parts: [Buffer.from("c")] };
  expect(OLD.decode(NEW.encode(given))).toEqual({ name: "a", inner: { of: "b" } });
  const fixed = Buffer.from([0x31, ...Buffer.alloc(8), 0x3d, ...Buffer.alloc(4)]);
  const [before, after] = [NEW.encode({ name: "x" }), NEW.encode({ name: "a" })];
  expect(OLD.decode(Buffer.concat([before, fixed, after]))).toEqual({ name: "a", inner: null });
  const read = NEW.decode(OLD.encode({ name: "a", inner: { of: "b" } }));
  expect(read).toEqual({ name: "a", count: 0, inner: { of: "b", isLate: undefined }, parts: [] });
});

test("what is no message is refused, and nothing else happens", () => {
  const random = seededRandom(seed);
  const whole = NEW.encode({ name: "name", inner: { of: "b", isLate: true }, parts: [Buffer.alloc(20)] });
  let refused = 0;
  for (let round = 0; round < 5_000; round++) {
    const spoilt = Buffer.from(whole.subarray(0, random.below(whole.length + 1)));
    for (let change = random.below(4); change > 0 && spoilt.length > 0; change--)
      spoilt[random.below(spoilt.length)] = random.below(256);
    try {
      NEW.decode(spoilt);
    } catch (error) {
      expect(error).toMatchObject({ code: "internal" });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(1_000);
});
