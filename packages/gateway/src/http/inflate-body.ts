import { createGunzip } from "node:zlib";
import { ShoalError } from "@shoal/model";

/** What any body may inflate to: numbers that are all zero shrink to a thousandth, and so do lists of the same object. */
export const INFLATED_BYTES_MIN = 32 * 1024 * 1024;

/** Beyond that. Vectors as text shrink to a third, texts to a twentieth. */
export const INFLATED_RATIO_MAX = 100;

export interface InflateLimits {
  /** Largest body, inflated. */
  readonly bodyBytesMax: number;
  /** Whether there is room for so many bytes more. */
  readonly take: (bytes: number) => boolean;
  /** Nobody waits for it any more. */
  readonly isOver: () => boolean;
}

/**
 * Unpacks a gzip body that is complete: what a client has not sent yet takes no more memory than what it has sent. Fails
 * with `tooLarge` when it inflates to more than it may, with `overloaded` when there is no room, with `malformed` on what is
 * no gzip.
 */
export function inflateBody(packed: readonly Buffer[], limits: InflateLimits): Promise<readonly Buffer[]> {
  const packedBytes = packed.reduce((sum, chunk) => sum + chunk.length, 0);
  const inflatedMax = INFLATED_BYTES_MIN + INFLATED_RATIO_MAX * packedBytes;
  return new Promise((resolve, reject) => {
    const gunzip = createGunzip();
    const chunks: Buffer[] = [];
    let length = 0;
    const fail = (error: ShoalError): void => {
      gunzip.destroy();
      reject(error);
    };
    gunzip.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (limits.isOver()) fail(new ShoalError("unavailable", "the client has gone"));
      else if (length > limits.bodyBytesMax) fail(bodyTooLarge(limits.bodyBytesMax));
      else if (length > inflatedMax) fail(inflatesTooFar(packedBytes, inflatedMax));
      else if (!limits.take(chunk.length)) fail(noRoomForBody());
      else chunks.push(chunk);
    });
    gunzip.on("end", () => resolve(chunks));
    gunzip.on("error", (error) => fail(new ShoalError("malformed", `the body is not valid gzip: ${error.message}`)));
    for (const chunk of packed) gunzip.write(chunk);
    gunzip.end();
  });
}

export function bodyTooLarge(bytesMax: number): ShoalError {
  return new ShoalError("tooLarge", `the body is larger than ${bytesMax} bytes (REQUEST_BODY_BYTES_MAX)`);
}

export function noRoomForBody(): ShoalError {
  return new ShoalError("overloaded", "the bodies of the requests in flight take too much memory, try again later");
}

function inflatesTooFar(packedBytes: number, inflatedMax: number): ShoalError {
  const most = `${INFLATED_BYTES_MIN} and ${INFLATED_RATIO_MAX} for each of its own`;
  return new ShoalError(
    "tooLarge",
    `the body has ${packedBytes} bytes of gzip that inflate to more than ${inflatedMax} (${most}): send smaller batches`,
  );
}
