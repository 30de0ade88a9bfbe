import { ShoalError } from "@shoal/model";
import { type ByteReader, unreadable } from "../wire/byte-reader.js";
import { ByteWriter } from "../wire/byte-writer.js";
import { readError, writeError } from "../wire/error-codec.js";

/** Both sides must speak the same: another one is refused in words. The README says when it rises. */
export const PROTOCOL_VERSION = 1;

const REQUEST_ID_CHARS_MAX = 128;

/** What stands before the body of every request. */
export interface RequestHead {
  readonly method: number;
  /** The version of the schema that the caller knows. */
  readonly schemaVersion: number;
  /** How long the caller waits; undefined: for ever. */
  readonly timeoutMs: number | undefined;
  readonly requestId: string | undefined;
}

/** The first frame of the far side. */
export interface Hello {
  readonly nodeName: string;
  readonly schemaVersion: number;
}

/** Why there is no answer. */
export interface Failure {
  readonly schemaVersion: number;
  /** The far side is certain to have done nothing. */
  readonly isUntouched: boolean;
  readonly error: ShoalError;
}

export function writeRequestHead(writer: ByteWriter, head: RequestHead): void {
  writer.byte(head.method);
  writer.count(head.schemaVersion);
  writer.count(head.timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(head.timeoutMs)));
  writer.text((head.requestId ?? "").slice(0, REQUEST_ID_CHARS_MAX));
}

export function readRequestHead(reader: ByteReader): RequestHead {
  const method = reader.byte();
  const schemaVersion = reader.count();
  const timeoutMs = reader.count();
  const requestId = reader.text();
  return {
    method,
    schemaVersion,
    timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
    requestId: requestId === "" ? undefined : requestId.slice(0, REQUEST_ID_CHARS_MAX),
  };
}

export function encodeHello({ nodeName, schemaVersion }: Hello): Buffer {
  return ByteWriter.bytesOf((writer) => {
    writer.byte(PROTOCOL_VERSION);
    writer.text(nodeName);
    writer.count(schemaVersion);
  });
}

/** Fails with `internal` when the other side speaks another version. */
export function readHello(reader: ByteReader): Hello {
  const version = reader.byte();
  if (version !== PROTOCOL_VERSION) {
    throw unreadable(`it speaks version ${version} of the internal protocol, this process version ${PROTOCOL_VERSION}`);
  }
  return { nodeName: reader.text(), schemaVersion: reader.count() };
}

export function encodeFailure({ schemaVersion, isUntouched, error }: Failure): Buffer {
  return ByteWriter.bytesOf((writer) => {
    writer.count(schemaVersion);
    writer.flag(isUntouched);
    writeError(writer, error);
  });
}

export function readFailure(reader: ByteReader): Failure {
  return { schemaVersion: reader.count(), isUntouched: reader.flag(), error: readError(reader) };
}

/** Fails with `deadlineExceeded`, naming what was asked. */
export function deadlineError(what: string): ShoalError {
  return new ShoalError("deadlineExceeded", `${what} has not answered in time`);
}
