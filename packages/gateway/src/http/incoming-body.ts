import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ShoalError } from "@shoal/model";
import { type Budget, eventLoop, type Gate, type Holder, type Holding, type Share } from "@shoal/runtime";
import { StalledBodyError } from "./http-response.js";
import type { BodyCut } from "./http-statistics.js";
import { bodyTooLarge, inflateBody, noRoomForBody } from "./inflate-body.js";

/** Handling a longer body (parsing it, cutting its vectors out) holds the process for milliseconds. */
export const LONG_BODY_BYTES = 256 * 1024;

/** Several bodies of this length together hold it as long. */
export const COSTLY_BODY_BYTES = 4 * 1024;

/** Who sends slower sends nothing, as far as {@link IncomingBody.tick} is concerned. */
export const BYTES_PER_SECOND_MIN = 1024;

const EMPTY = Buffer.alloc(0);

export interface BodyLimits {
  /** Largest body, as it is sent and inflated. */
  readonly bodyBytesMax: number;
  /** Ticks in which a body must get on. */
  readonly stallTicks: number;
  /** Of all bodies, until their requests have been answered. */
  readonly budget: Budget<IncomingBody>;
  /** Of all bodies that are inflated. */
  readonly inflating: Gate;
}

/** The body of a request, from its first byte until the request has been answered. */
export class IncomingBody implements Holder {
  readonly #chunks: Buffer[] = [];
  #received = 0;
  #holding: Holding | undefined;
  #cut: BodyCut | undefined;
  #settle: { readonly resolve: (bytes: Buffer) => void; readonly reject: (error: Error) => void } | undefined;
  /** Bytes a tick, of late; of one that has just begun not known. */
  #speed = Number.POSITIVE_INFINITY;
  #receivedBefore = 0;
  #ticks = 0;
  #receivedAtWindow = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly client: { readonly share: Share },
    private readonly limits: BodyLimits,
  ) {}

  get share(): Share {
    return this.client.share;
  }

  /** Bytes that have come in. */
  get received(): number {
    return this.#received;
  }

  /** Why it was not read to its end, where that was not for what it is. */
  get cut(): BodyCut | undefined {
    return this.#cut;
  }

  /** A body that is complete is not cut off. */
  speed(): number | undefined {
    return this.#settle === undefined ? undefined : this.#speed;
  }

  cutOff(): void {
    this.#cut = "gives_way";
    this.#fail(new ShoalError("overloaded", GIVES_WAY, { retryAfterSeconds: 1 }));
  }

  /**
   * Reads the whole body, unpacking gzip. Fails with `tooLarge` as soon as a limit is passed (at once when the announced
   * length passes it), with `overloaded` when all bodies together are too many, with `malformed` on damaged gzip, with
   * `StalledBodyError`. The rest of a refused body is left unread.
   */
  async read(): Promise<Buffer> {
    const { bodyBytesMax, budget } = this.limits;
    const { headers } = this.request;
    if (Number(headers["content-length"] ?? 0) > bodyBytesMax) throw bodyTooLarge(bodyBytesMax);
    this.#holding = budget.open(this);
    if (this.#holding === undefined) throw new ShoalError("overloaded", TOO_MANY, { retryAfterSeconds: 1 });
    const whole = await this.#receive();
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") return this.#inflate();
    return whole ?? joinedInSteps(this.#chunks, this.#received, this.share);
  }

  /** Gives its memory back. */
  release(): void {
    this.#holding?.close();
  }

  /** A second or so has passed: cuts a client off that has sent next to nothing for a while. */
  tick(): void {
    if (this.#settle === undefined) return;
    const bytes = this.#received - this.#receivedBefore;
    this.#receivedBefore = this.#received;
    if (this.#ticks++ > 0) this.#speed = this.#speed === Number.POSITIVE_INFINITY ? bytes : (this.#speed + bytes) / 2;
    if (this.#ticks % this.limits.stallTicks !== 0) return;
    const moved = this.#received - this.#receivedAtWindow;
    this.#receivedAtWindow = this.#received;
    if (moved >= this.limits.stallTicks * BYTES_PER_SECOND_MIN) return;
    this.#cut = "stalled";
    this.#fail(new StalledBodyError(stalled(this.limits.stallTicks)));
  }

  /** The whole, unless it is long. */
  #receive(): Promise<Buffer | undefined> {
    const request = this.request;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        if (this.#settle === undefined) return;
        this.#settle = undefined;
        const [first = EMPTY] = this.#chunks;
        const isLong = this.#received > LONG_BODY_BYTES;
        resolve(this.#chunks.length < 2 ? first : isLong ? undefined : Buffer.concat(this.#chunks));
      };
      const stop = (error: Error): void => {
        request.off("data", this.#onData);
        request.pause();
        reject(error);
      };
      this.#settle = { resolve: end, reject: stop };
      request.on("data", this.#onData);
      request.on("end", end);
      request.on("error", () => this.#fail(new ShoalError("malformed", "the client broke off while sending the body")));
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#received + chunk.length > this.limits.bodyBytesMax) this.#fail(bodyTooLarge(this.limits.bodyBytesMax));
    else if (this.#holding?.takeAlone(chunk.length) !== true) this.#fail(noRoomForBody());
    else {
      this.#received += chunk.length;
      this.#chunks.push(chunk);
    }
  };

  #fail(error: Error): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#chunks.length = 0;
    this.release();
    settle.reject(error);
  }

  async #inflate(): Promise<Buffer> {
    const { bodyBytesMax, inflating } = this.limits;
    const request = this.request;
    const holding = this.#holding;
    const inflated = await inflating.run(1, { share: this.share }, () =>
      inflateBody(this.#chunks, {
        bodyBytesMax,
        take: (bytes) => holding?.takeAlone(bytes) === true,
        isOver: () => request.socket.destroyed,
      }),
    );
    this.#chunks.length = 0;
    holding?.give(this.#received);
    const length = inflated.reduce((sum, chunk) => sum + chunk.length, 0);
    return joinedInSteps(inflated, length, this.share);
  }
}

const stalled = (seconds: number): string =>
  `less than ${BYTES_PER_SECOND_MIN} bytes a second of the body came in for ${seconds} s (HTTP_BODY_STALL_SECONDS)`;
const GIVES_WAY = "the body came more slowly than others, which took the memory that it held, try again later";
const TOO_MANY = "too many requests are being sent at the same time, try again later";

/** Copying takes 0.7 ms a megabyte, most of it for memory that is new. */
const STEP_BYTES = 4 * 1024 * 1024;

/** The chunks as one, a few megabytes in each step. */
async function joinedInSteps(chunks: readonly Buffer[], length: number, share: Share): Promise<Buffer> {
  if (length <= LONG_BODY_BYTES) return Buffer.concat(chunks, length);
  const bytes = Buffer.allocUnsafeSlow(length);
  let end = 0;
  let stepEnd = STEP_BYTES;
  for (const chunk of chunks) {
    if (end >= stepEnd) {
      await eventLoop.next(share);
      stepEnd = end + STEP_BYTES;
    }
    end += chunk.copy(bytes, end);
  }
  return bytes;
}

/** Whether the client announced a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return length === undefined ? request.headers["transfer-encoding"] !== undefined : length !== "0";
}

/**
 * Whether a body of unannounced length turns out to be empty; one of which nothing comes in time does not. What is read
 * of it to find out is lost.
 */
export function isEmptyBody(request: IncomingMessage, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isEmpty: boolean): void => {
      clearTimeout(timer);
      request.off("readable", onReadable);
      request.off("end", onEnd);
      request.off("close", onClose);
      resolve(isEmpty);
    };
    const onReadable = (): void => {
      if (request.read() !== null) settle(false);
    };
    const onEnd = (): void => settle(true);
    const onClose = (): void => settle(false);
    const timer = setTimeout(onClose, timeoutMs);
    request.on("readable", onReadable);
    request.on("end", onEnd);
    request.on("close", onClose);
  });
}

/** Looking at a megabyte takes 40 µs. */
const CHECKED_IN_STEP_BYTES = 16 * 1024 * 1024;

/**
 * Fails with `malformed` on a body that is no UTF-8, which JSON must be (RFC 8259, 8.1): read all the same, what is damaged would be
 * stored as U+FFFD, and nobody told. A promise where the body is long.
 */
export function refuseOtherThanUtf8(bytes: Buffer, share: Share): Promise<void> | undefined {
  if (bytes.length > LONG_BODY_BYTES) return refuseInSteps(bytes, share);
  if (!isUtf8(bytes)) throw notUtf8(bytes, invalidUtf8At(bytes, 0, bytes.length));
  return undefined;
}

async function refuseInSteps(bytes: Buffer, share: Share): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const to = characterBefore(bytes, Math.min(from + CHECKED_IN_STEP_BYTES, bytes.length));
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
