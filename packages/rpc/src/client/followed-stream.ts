import type { ClientReadableStream } from "@grpc/grpc-js";

const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;

export interface FollowedStreamOptions<Item> {
  readonly open: () => ClientReadableStream<Item>;
  /** What throws here begins the stream anew. */
  readonly onItem: (item: Item) => void;
  /** The stream has ended; another one follows. */
  readonly onEnd?: () => void;
}

/** A stream that is begun again whenever it ends, until it is disposed of. */
export class FollowedStream<Item> implements Disposable {
  readonly #options: FollowedStreamOptions<Item>;
  #stream: ClientReadableStream<Item> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #backoffMs = BACKOFF_FIRST_MS;
  #isOver = false;

  constructor(options: FollowedStreamOptions<Item>) {
    this.#options = options;
    this.#open();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stream?.cancel();
  }

  #open(): void {
    const stream = this.#options.open();
    this.#stream = stream;
    stream.on("data", (item: Item) => {
      if (this.#stream !== stream || this.#isOver) return;
      this.#backoffMs = BACKOFF_FIRST_MS;
      try {
        this.#options.onItem(item);
      } catch {
        this.#end(stream);
        stream.cancel();
      }
    });
    stream.on("error", () => this.#end(stream));
    stream.on("end", () => this.#end(stream));
  }

  #end(stream: ClientReadableStream<Item>): void {
    if (this.#stream !== stream || this.#isOver) return;
    this.#stream = undefined;
    this.#options.onEnd?.();
    this.#timer = setTimeout(() => this.#open(), this.#backoffMs);
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2);
  }
}
