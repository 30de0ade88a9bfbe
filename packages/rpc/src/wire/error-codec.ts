import { type ErrorCode, ShoalError } from "@shoal/model";
import { ShardMoved } from "../shard-moved.js";
import { type Codec, double } from "./codec.js";
import { shardConfiguration } from "./copy-codec.js";

/** The number of each code on the wire; never given to another one. */
const NUMBER_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  malformed: 1,
  invalid: 2,
  unauthenticated: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  tooLarge: 7,
  overloaded: 8,
  unavailable: 9,
  deadlineExceeded: 10,
  dataLoss: 11,
  internal: 12,
  moved: 13,
};

const CODE_OF_NUMBER = new Map(Object.entries(NUMBER_OF_CODE).map(([code, number]) => [number, code as ErrorCode]));

/**
 * Code, message and when to try again; of `moved`, who holds the shard. The cause stays where it happened. A code of a later
 * version is `internal`.
 */
export const error: Codec<ShoalError> = (wire, value) => {
  const number = wire.byte(value && NUMBER_OF_CODE[value.code]);
  const message = wire.text(value?.message);
  const retryAfterSeconds = wire.optional(value?.retryAfterSeconds, double);
  const code = CODE_OF_NUMBER.get(number) ?? "internal";
  const known = value instanceof ShardMoved ? value.configuration : undefined;
  const configuration = code === "moved" ? wire.optional(known, shardConfiguration) : undefined;
  if (value !== undefined) return value;
  const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return code === "moved" ? new ShardMoved(message, configuration, options) : new ShoalError(code, message, options);
};
