import { type ErrorCode, ShoalError } from "@shoal/model";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";

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
};

const CODE_OF_NUMBER = new Map(Object.entries(NUMBER_OF_CODE).map(([code, number]) => [number, code as ErrorCode]));

/** Code, message and when to try again. The cause stays where it happened. */
export function writeError(writer: ByteWriter, error: ShoalError): void {
  writer.byte(NUMBER_OF_CODE[error.code]);
  writer.text(error.message);
  writer.optional(error.retryAfterSeconds, (to, seconds) => to.double(seconds));
}

/** A code of a later version is `internal`. */
export function readError(reader: ByteReader): ShoalError {
  const code = CODE_OF_NUMBER.get(reader.byte()) ?? "internal";
  const message = reader.text();
  const retryAfterSeconds = reader.optional((from) => from.double());
  return new ShoalError(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
