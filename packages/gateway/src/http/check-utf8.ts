import { isUtf8 } from "node:buffer";
import { ShoalError } from "@shoal/model";
import { eventLoop, type Share } from "@shoal/runtime";
import { LONG_BODY_BYTES } from "./incoming-body.js";

/** Looking at a megabyte takes 40 µs. */
const TURN_BYTES = 16 * 1024 * 1024;

/**
 * Fails with `malformed` on a body that is no UTF-8, which JSON must be (RFC 8259, 8.1): read all the same, what is damaged would be
 * stored as U+FFFD, and nobody told. A promise where the body is long.
 */
export function refuseOtherThanUtf8(bytes: Buffer, share: Share): Promise<void> | undefined {
  if (bytes.length > LONG_BODY_BYTES) return refuseInTurns(bytes, share);
  if (!isUtf8(bytes)) throw notUtf8(bytes, invalidUtf8At(bytes, 0, bytes.length));
  return undefined;
}

async function refuseInTurns(bytes: Buffer, share: Share): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const to = characterBefore(bytes, Math.min(from + TURN_BYTES, bytes.length));
    if (!isUtf8(bytes.subarray(from, to))) throw notUtf8(bytes, invalidUtf8At(bytes, from, to));
    from = to;
    if (from < bytes.length) await eventLoop.next(share);
  }
}

/** Where the first byte is between `from`, where a character begins, and `to` that begins no character of UTF-8. */
export function invalidUtf8At(bytes: Buffer, from: number, to: number): number {
  let [start, end] = [from, to];
  while (end - start > LOOKED_AT_BYTES) {
    const middle = characterBefore(bytes, start + ((end - start) >> 1));
    if (isUtf8(bytes.subarray(start, middle))) start = middle;
    else end = middle;
  }
  for (let at = start; at < end; ) {
    const next = at + lengthOf(bytes[at] ?? 0);
    if (!isUtf8(bytes.subarray(at, Math.min(next, end)))) return at;
    at = next;
  }
  return end;
}

const LOOKED_AT_BYTES = 64;

/** The last place up to `at` where a character begins; `at` itself where more bytes go on one than any character has. */
function characterBefore(bytes: Buffer, at: number): number {
  for (let back = 0; back <= 3; back++) if (!isContinuation(bytes[at - back])) return at - back;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes of a character that begins with this one; 1 of what begins none. */
function lengthOf(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

const SHOWN_BYTES = 24;

function notUtf8(bytes: Buffer, at: number): ShoalError {
  const found = bytes.toString("hex", at, at + 1);
  const before = bytes.toString("utf8", characterBefore(bytes, Math.max(0, at - SHOWN_BYTES)), at);
  return new ShoalError(
    "malformed",
    `the request body is not valid UTF-8: byte ${at} is 0x${found}, behind ${JSON.stringify(before)}: send JSON in UTF-8`,
  );
}
