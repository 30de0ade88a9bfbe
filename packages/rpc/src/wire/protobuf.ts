import { ByteReader, unreadable } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";
import { count, flag, text, type Wire } from "./codec.js";

/*
 * Messages as protobuf has them (proto3), each described once: fields have numbers, and a reader passes over those that it does
 * not know. For what processes of different versions say to each other; a test compares the bytes with those of protobuf.js.
 */

const VARINT = 0;
const FIXED_64 = 1;
const SIZED = 2;
const FIXED_32 = 5;

/** Of a field: `Value` as it is read, `Given` as it is written, `Absent` instead of a single value that is not there. */
export interface FieldType<Value, Given = Value, Absent = Value> {
  readonly name: string;
  readonly wireType: typeof VARINT | typeof SIZED;
  readonly absent: Absent;
  /** Of a message in the message. */
  readonly fields?: Fields;
  codec(wire: Wire, given?: Given): Value;
}

export const string: FieldType<string> = { name: "TYPE_STRING", wireType: SIZED, absent: "", codec: text };
export const uint32: FieldType<number> = { name: "TYPE_UINT32", wireType: VARINT, absent: 0, codec: count };
/** Up to 2^53 - 1. */
export const uint64: FieldType<number> = { name: "TYPE_UINT64", wireType: VARINT, absent: 0, codec: count };
export const bool: FieldType<boolean> = { name: "TYPE_BOOL", wireType: VARINT, absent: false, codec: flag };
/** A view of the message where it is read. */
export const bytes: FieldType<Buffer, Uint8Array> = {
  name: "TYPE_BYTES",
  wireType: SIZED,
  absent: Buffer.alloc(0),
  codec: (wire, given) => wire.bytes(given) as Buffer,
};

export interface Field<Value, Given> {
  readonly number: number;
  readonly type: Pick<FieldType<unknown>, "name" | "wireType" | "fields">;
  readonly isRepeated: boolean;
  absent(): Value;
  write(writer: ByteWriter, given: Given): void;
  /** The value; of several, those of `before` and the next one. */
  read(reader: ByteReader, before: Value): Value;
}

/** One value; what stands for none where it is absent. */
export function field<Value, Given, Absent>(
  number: number,
  type: FieldType<Value, Given, Absent>,
): Field<Value | Absent, Given | null> {
  return single<Value, Given, Absent>(number, type, type.absent);
}

/** One value; undefined where it is absent. */
export function optional<Value, Given, Absent>(
  number: number,
  type: FieldType<Value, Given, Absent>,
): Field<Value | undefined, Given | null> {
  return single<Value, Given, undefined>(number, type, undefined);
}

/** Any number of values. */
export function repeated<Value, Given, Absent>(
  number: number,
  type: FieldType<Value, Given, Absent>,
): Field<readonly Value[], readonly Given[]> {
  const { wireType, codec } = type;
  return {
    number,
    type,
    isRepeated: true,
    absent: () => [],
    write(writer, given) {
      for (const one of given) {
        writer.count(tagOf(number, wireType));
        codec(writer, one);
      }
    },
    read(reader, before) {
      (before as Value[]).push(codec(reader));
      return before;
    },
  };
}

function single<Value, Given, Absent>(
  number: number,
  type: Omit<FieldType<Value, Given>, "absent">,
  absent: Absent,
): Field<Value | Absent, Given | null> {
  const { wireType, codec } = type;
  return {
    number,
    type,
    isRepeated: false,
    absent: () => absent,
    write(writer, given) {
      if (given === null) return;
      writer.count(tagOf(number, wireType));
      codec(writer, given);
    },
    read: (reader) => codec(reader),
  };
}

type Fields = Readonly<Record<string, Field<unknown, never>>>;

type ValueOf<All extends Fields> = {
  readonly [Name in keyof All]: All[Name] extends Field<infer Value, never> ? Value : never;
};
type GivenFor<All extends Fields> = {
  readonly [Name in keyof All]?: All[Name] extends Field<unknown, infer Given> ? Given | undefined : never;
};

export interface Message<Value, Given> extends FieldType<Value, Given, null> {
  readonly fields: Fields;
  /** Members that are undefined or null stay out of it. */
  encode(given: Given): Buffer;
  /** Fails with `internal` on what is no message. */
  decode(bytes: Uint8Array): Value;
}

/** A message as it is read. */
export type Read<Described> = Described extends Message<infer Value, never> ? Value : never;
/** What may be written as a message. */
export type Written<Described> = Described extends Message<unknown, infer Given> ? Given : never;

/** Fields in the order of their numbers, as they are written; never renumbered, retyped or taken away. */
export function message<All extends Fields>(name: string, fields: All): Message<ValueOf<All>, GivenFor<All>> {
  const byTag = new Map(
    Object.entries(fields).map(([member, one]) => [tagOf(one.number, one.type.wireType), { member, one }] as const),
  );
  const encode = (given: GivenFor<All>): Buffer =>
    ByteWriter.bytesOf((writer) => {
      for (const { member, one } of byTag.values()) {
        const value = given[member];
        if (value !== undefined && value !== null) one.write(writer, value as never);
      }
    });
  const decode = (encoded: Uint8Array): ValueOf<All> => {
    const reader = new ByteReader(encoded as Buffer);
    const values: Record<string, unknown> = {};
    for (const { member, one } of byTag.values()) values[member] = one.absent();
    while (!reader.isAtEnd) {
      const tag = reader.count();
      const known = byTag.get(tag);
      if (known === undefined) skip(reader, tag);
      else values[known.member] = known.one.read(reader, values[known.member]);
    }
    return values as ValueOf<All>;
  };
  return {
    name,
    fields,
    wireType: SIZED,
    absent: null,
    encode,
    decode,
    codec(wire, given) {
      const encoded = wire.bytes(given && encode(given));
      return given === undefined ? decode(encoded) : (given as unknown as ValueOf<All>);
    },
  };
}

function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType;
}

/** A field of a later version. */
function skip(reader: ByteReader, tag: number): void {
  switch (tag % 8) {
    case VARINT:
      while (reader.byte() >= 0x80);
      return;
    case FIXED_64:
      reader.skip(8);
      return;
    case SIZED:
      reader.bytes();
      return;
    case FIXED_32:
      reader.skip(4);
      return;
    default:
      throw unreadable("a field is of a type that protobuf has no more");
  }
}
