import { ShoalError } from "@shoal/model";

export interface HttpResponse {
  readonly status: number;
  readonly body: Buffer;
}

const HEADERS_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const NOTHING = Buffer.alloc(0);

/**
 * Reads HTTP/1.1 responses from the pieces of a connection: bodies with a length, chunked ones (RFC 9112, 7.1) and
 * none. Errors: `malformed` for anything else, a body up to the end of the connection included.
 */
export class HttpResponseParser {
  #bytes: Buffer = NOTHING;
  #pieces: Buffer[] = [];
  #held = 0;
  /** How many bytes there must be before it is worth looking again. */
  #needed = 0;

  /** The response that `piece` completes, if it completes one. One request at a time: nothing may follow it. */
  feed(piece: Buffer): HttpResponse | undefined {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held < this.#needed) return undefined;
    this.#bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#held);
    this.#pieces = [this.#bytes];
    const response = this.#parse();
    if (response === undefined) return undefined;
    this.#pieces = [];
    this.#held = 0;
    this.#needed = 0;
    return response;
  }

  #parse(): HttpResponse | undefined {
    const bytes = this.#bytes;
    const headEnd = bytes.indexOf(HEADERS_END);
    if (headEnd < 0) return undefined;
    const head = bytes.toString("latin1", 0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new ShoalError("malformed", `no HTTP/1.1 response: ${head.slice(0, 60)}`);
    const bodyAt = headEnd + HEADERS_END.length;
    const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1];
    if (length !== undefined) return this.#withLength(status, bodyAt, Number(length));
    if (/\r\ntransfer-encoding:\s*chunked/i.test(head)) return this.#chunked(status, bodyAt);
    if (status === 204 || status === 304) return this.#withLength(status, bodyAt, 0);
    throw new ShoalError("malformed", "the response has neither a length nor chunks");
  }

  #withLength(status: number, bodyAt: number, length: number): HttpResponse | undefined {
    this.#needed = bodyAt + length;
    if (this.#held < this.#needed) return undefined;
    this.#refuseMoreThan(this.#needed);
    return { status, body: this.#bytes.subarray(bodyAt, bodyAt + length) };
  }

  #chunked(status: number, bodyAt: number): HttpResponse | undefined {
    const parts: Buffer[] = [];
    for (let at = bodyAt; ; ) {
      const lineEnd = this.#bytes.indexOf(LINE_END, at);
      if (lineEnd < 0) return undefined;
      const length = Number.parseInt(this.#bytes.toString("latin1", at, lineEnd), 16);
      if (Number.isNaN(length)) throw new ShoalError("malformed", "a chunk without a length");
      const start = lineEnd + LINE_END.length;
      if (this.#held < start + length + LINE_END.length) return undefined;
      if (length === 0) {
        this.#refuseMoreThan(start + LINE_END.length);
        return { status, body: Buffer.concat(parts) };
      }
      parts.push(this.#bytes.subarray(start, start + length));
      at = start + length + LINE_END.length;
    }
  }

  #refuseMoreThan(length: number): void {
    if (this.#held > length) throw new ShoalError("malformed", `${this.#held - length} bytes follow the response`);
  }
}
