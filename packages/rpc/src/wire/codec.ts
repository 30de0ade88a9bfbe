import type { ObjectId } from "@shoal/model";

/**
 * How a value stands in a message, described once: a function that puts the value's parts on a wire one after the other, and
 * builds the value of what the wire gives back. Over a `ByteWriter` it writes `value`; over a `ByteReader`, where it is called
 * without one, it reads it. What it does first stands first, so a part that is needed early is taken before the value is built.
 */
export type Codec<Value> = (wire: Wire, value?: Value) => Value;

/**
 * What codecs are run over. A `ByteWriter` writes what it is given and gives it back; a `ByteReader` is given nothing and gives
 * back what it has read. Both fail with `internal` on what cannot be.
 */
export interface Wire {
  byte(value?: number): number;
  flag(value?: boolean): boolean;
  /** A whole number from 0 to 2^53 - 1 in seven bits a byte, the lowest first. */
  count(value?: number): number;
  /** All doubles exactly: NaN, infinities and -0 too. */
  double(value?: number): number;
  /** 128 bits: an instant of the years 0 to 9999 in nanoseconds takes more than 64. */
  instant(value?: bigint): bigint;
  text(value?: string): string;
  bytes(value?: Uint8Array): Uint8Array;
  floats(value?: Float32Array): Float32Array;
  doubles(value?: Float64Array): Float64Array;
  id(value?: ObjectId): ObjectId;
  /** Of the type that it was written from. */
  json<Value>(value?: Value): Value;
  /** One of a closed list by its place there, which is sent: such lists only grow. `what` names it in errors. */
  choice<Choice>(choices: readonly Choice[], what: string, value?: Choice): Choice;
  list<Item>(items: readonly Item[] | undefined, item: Codec<Item>): readonly Item[];
  /** As `list`, at the end of a message: where the codec of the message yields, its items follow when the codec has returned. */
  longList<Item>(items: readonly Item[] | undefined, item: Codec<Item>): readonly Item[];
  /** A flag, and the value where there is one. */
  optional<Value>(value: Value | undefined, codec: Codec<Value>): Value | undefined;
  /** At the end of a message: the value where there is one, else nothing, as in messages of before there was such a value. */
  trailing<Value>(value: Value | undefined, codec: Codec<Value>): Value | undefined;
}

/* Codecs of single values, for lists and optionals. */
export const flag: Codec<boolean> = (wire, value) => wire.flag(value);
export const count: Codec<number> = (wire, value) => wire.count(value);
export const double: Codec<number> = (wire, value) => wire.double(value);
export const instant: Codec<bigint> = (wire, value) => wire.instant(value);
export const text: Codec<string> = (wire, value) => wire.text(value);
export const bytes: Codec<Uint8Array> = (wire, value) => wire.bytes(value);
export const floats: Codec<Float32Array> = (wire, value) => wire.floats(value);
export const id: Codec<ObjectId> = (wire, value) => wire.id(value);

/** An object of these members, which stand in this order. */
export function record<Value extends object>(
  members: {
    readonly [Name in keyof Value]-?: Codec<Value[Name]>;
  },
): Codec<Value> {
  const entries = Object.entries(members) as [keyof Value, Codec<unknown>][];
  return (wire, value) => {
    const read: Partial<Value> = {};
    for (const [name, codec] of entries) read[name] = codec(wire, value?.[name]) as Value[keyof Value];
    return value ?? (read as Value);
  };
}

export function optional<Value>(codec: Codec<Value>): Codec<Value | undefined> {
  return (wire, value) => wire.optional(value, codec);
}

export function list<Item>(item: Codec<Item>): Codec<readonly Item[]> {
  return (wire, items) => wire.list(items, item);
}
