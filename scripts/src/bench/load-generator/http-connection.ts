import { connect, type Socket } from "node:net";
import { ShoalError } from "@shoal/model";
import { type HttpResponse, HttpResponseParser } from "./http-response-parser.js";

interface Waiting {
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: ShoalError) => void;
}

/** One keep-alive connection, one request at a time: as little work as possible beside the measured server. */
export class HttpConnection implements Disposable {
  readonly #socket: Socket;
  readonly #parser = new HttpResponseParser();
  #waiting: Waiting | undefined;
  #broken: ShoalError | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (piece) => this.#take(piece));
    socket.on("error", (cause) =>
      this.#break(new ShoalError("unavailable", `connection: ${cause.message}`, { cause })),
    );
    socket.on("close", () => this.#break(new ShoalError("unavailable", "the server closed the connection")));
  }

  static open(url: URL): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(url.port || 80), url.hostname);
      const failed = (cause: Error) =>
        reject(new ShoalError("unavailable", `cannot connect to ${url.host}: ${cause.message}`, { cause }));
      socket.once("error", failed);
      socket.once("connect", () => {
        socket.off("error", failed);
        resolve(new HttpConnection(socket));
      });
    });
  }

  /** Sends the bytes of one whole request. Errors: `unavailable` when the connection breaks, `malformed`. */
  send(request: Buffer): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #take(piece: Buffer): void {
    try {
      const response = this.#parser.feed(piece);
      if (response === undefined) return;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting === undefined)
        throw new ShoalError("malformed", `a response that nobody asked for, with status ${response.status}`);
      waiting.resolve(response);
    } catch (thrown) {
      this.#break(ShoalError.from(thrown));
      this.#socket.destroy();
    }
  }

  #break(error: ShoalError): void {
    this.#broken ??= error;
    this.#waiting?.reject(this.#broken);
    this.#waiting = undefined;
  }
}
