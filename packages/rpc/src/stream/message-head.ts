import { ShoalError } from "@shoal/model";
import { unreadable } from "../wire/byte-reader.js";
import type { Codec } from "../wire/codec.js";
import { error } from "../wire/error-codec.js";

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

/** The first frame of the server. */
export interface Hello {
  readonly nodeName: string;
  readonly schemaVersion: number;
}

/** Why there is no response. */
export interface Failure {
  readonly schemaVersion: number;
  /** The server is certain to have done nothing. */
  readonly isUntouched: boolean;
  readonly error: ShoalError;
}

export const requestHead: Codec<RequestHead> = (wire, head) => {
  const method = wire.byte(head?.method);
  const schemaVersion = wire.count(head?.schemaVersion);
  // 0: for ever.
  const timeoutMs = wire.count(head?.timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(head.timeoutMs)));
  const requestId = wire.text((head?.requestId ?? "").slice(0, REQUEST_ID_CHARS_MAX));
  return {
    method,
    schemaVersion,
    timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
    requestId: requestId === "" ? undefined : requestId.slice(0, REQUEST_ID_CHARS_MAX),
  };
};

/** Read, it fails with `internal` when the other side speaks another version. */
export const hello: Codec<Hello> = (wire, value) => {
  const version = wire.byte(PROTOCOL_VERSION);
  if (version !== PROTOCOL_VERSION) {
    throw unreadable(`it speaks version ${version} of the internal protocol, this process version ${PROTOCOL_VERSION}`);
  }
  return { nodeName: wire.text(value?.nodeName), schemaVersion: wire.count(value?.schemaVersion) };
};

export const failure: Codec<Failure> = (wire, value) => ({
  schemaVersion: wire.count(value?.schemaVersion),
  isUntouched: wire.flag(value?.isUntouched),
  error: error(wire, value?.error),
});

/** Fails with `deadlineExceeded`, naming what was asked. */
export function deadlineError(what: string): ShoalError {
  return new ShoalError("deadlineExceeded", `${what} has not answered in time`);
}
