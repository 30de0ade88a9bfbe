import { connect, type Socket } from "node:net";

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** What came of sending bytes: an answer, the end of the connection without one, or nothing in time. */
export type RawOutcome = RawAnswer | "closed" | "silent";

const ANSWER_MS_MAX = 120_000;

/** A connection on which one request after the other is sent as bytes, and opened again when it has ended. */
export class RawConnection implements Disposable {
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  /** Requests that went over it; 1 for the first one on a new connection. */
  #requests = 0;
  #error = "";

  constructor(readonly port: number) {}

  /** Sends the bytes and reads the answer; `isHead` answers have no body. */
  async send(bytes: Buffer, isHead: boolean): Promise<RawOutcome> {
    const socket = this.#socket ?? this.#open();
    this.#received = Buffer.alloc(0);
    this.#requests++;
    socket.write(bytes);
    const until = performance.now() + ANSWER_MS_MAX;
    for (;;) {
      const answer = completeAnswer(this.#received, isHead);
      if (answer !== undefined) {
        if (answer.headers.get("connection") === "close") this.close();
        return answer;
      }
      if (this.#socket !== socket) return "closed";
      const left = until - performance.now();
      if (left <= 0) {
        this.close();
        return "silent";
      }
      await this.#more(left);
    }
  }

  /** What is known of how the last connection ended. */
  get ending(): string {
    return `request ${this.#requests} on its connection${this.#error === "" ? "" : `, ${this.#error}`}`;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): Socket {
    const socket = connect({ port: this.port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    this.#requests = 0;
    this.#error = "";
    socket.on("data", (chunk: Buffer) => {
      if (this.#socket !== socket) return;
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#error = error.message;
    });
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#wake?.();
    });
    return socket;
  }

  async #more(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, mostMs);
    });
    this.#wake = undefined;
    clearTimeout(timer);
  }
}

/** Undefined while it is not complete. Interim answers are skipped. */
function completeAnswer(received: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return completeAnswer(rest, isHead);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const length = isHead || status === 204 || status === 304 ? 0 : Number(headers.get("content-length") ?? 0);
  return rest.length < length ? undefined : { status, headers, body: rest.subarray(0, length) };
}
