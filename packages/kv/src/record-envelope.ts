import { ShoalError } from "@shoal/model";
import { xxh3Matches, xxh3Write } from "@shoal/native";

/** First byte of every stored value. A byte once given keeps its meaning for good. */
export const ENVELOPE_FORMAT = 1;
const CHECKSUM_OFFSET = 1;
/** Larger records are sealed into memory of their own. */
const BUFFER_BYTES_MAX = 256 * 1024;

/** Bytes that the envelope adds to a payload: format byte, xxh3-64 of key and payload. */
export const ENVELOPE_BYTES = 9;

/** The stored form of `payload` under `key`: format byte, xxh3-64 over key then payload, payload. Copies the payload. */
export function sealRecord(key: Uint8Array, payload: Uint8Array): Uint8Array {
  return sealInto(new Uint8Array(ENVELOPE_BYTES + payload.length), key, payload);
}

/** Seals into a buffer of its own: what it returns is good until the next call. */
export class RecordSealer {
  #buffer = new Uint8Array(4096);

  seal(key: Uint8Array, payload: Uint8Array): Uint8Array {
    const length = ENVELOPE_BYTES + payload.length;
    if (length > BUFFER_BYTES_MAX) return sealRecord(key, payload);
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(Math.min(BUFFER_BYTES_MAX, length * 2));
    return sealInto(this.#buffer.subarray(0, length), key, payload);
  }
}

function sealInto(envelope: Uint8Array, key: Uint8Array, payload: Uint8Array): Uint8Array {
  envelope[0] = ENVELOPE_FORMAT;
  envelope.set(payload, ENVELOPE_BYTES);
  xxh3Write(key, payload, envelope, CHECKSUM_OFFSET);
  return envelope;
}

/**
 * The payload inside a stored value, as a view on `envelope`. Returns a `dataLoss` error (it does not throw: a damaged
 * record is a result of `getMany`) when the bytes are not what was sealed under this key.
 */
export function openRecord(key: Uint8Array, envelope: Uint8Array): Uint8Array | ShoalError {
  if (envelope.length < ENVELOPE_BYTES) {
    return damaged(key, `${envelope.length} bytes are too few for an envelope`);
  }
  const payload = envelope.subarray(ENVELOPE_BYTES);
  if (!xxh3Matches(key, payload, envelope, CHECKSUM_OFFSET)) return damaged(key, "its checksum does not match");
  if (envelope[0] !== ENVELOPE_FORMAT) return damaged(key, `envelope format ${envelope[0]} is unknown`);
  return payload;
}

function damaged(key: Uint8Array, reason: string): ShoalError {
  return new ShoalError("dataLoss", `record ${hexOfKey(key)} is damaged: ${reason}`);
}

/** A key as it stands in messages: hexadecimal, long ones cut. */
export function hexOfKey(key: Uint8Array): string {
  const shown = Buffer.from(key.buffer, key.byteOffset, Math.min(key.length, 64)).toString("hex");
  return key.length > 64 ? `${shown}… (${key.length} bytes)` : shown;
}
