import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What a link does to the bytes that pass it, each way. */
export interface LinkSpeed {
  readonly delayMs: number;
  readonly bytesPerSecond: number;
}

export const FAST: LinkSpeed = { delayMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY };

/**
 * A TCP proxy in front of one process, which others are told is its address. It passes everything on, as late and as slowly
 * as it is told to; the bytes that wait are bounded by the sockets.
 */
export class SlowLink implements AsyncDisposable {
  speed: LinkSpeed = FAST;
  /** Of what comes back, where that differs. */
  backSpeed: LinkSpeed | undefined;
  readonly #sockets = new Set<Socket>();
  /** Those that bytes have come from which are on their way. */
  readonly #carried = new Set<Socket>();

  private constructor(
    readonly port: number,
    readonly server: Server,
  ) {}

  /** In front of a port of this machine. */
  static async listen(targetPort: number): Promise<SlowLink> {
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const link = new SlowLink(address.port, server);
    server.on("connection", (near) => {
      const far = connect({ host: "127.0.0.1", port: targetPort, allowHalfOpen: true });
      for (const [socket, other, speed] of [
        [near, far, () => link.speed],
        [far, near, () => link.backSpeed ?? link.speed],
      ] as const) {
        link.#sockets.add(socket);
        socket.setNoDelay(true);
        // What is on its way arrives all the same.
        const end = () => {
          if (!link.#carried.has(socket)) other.destroy();
        };
        socket.on("error", end);
        socket.on("close", () => {
          link.#sockets.delete(socket);
          end();
        });
        void link.#carry(socket, other, speed);
      }
    });
    return link;
  }

  async #carry(from: Socket, to: Socket, speed: () => LinkSpeed): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const { delayMs, bytesPerSecond } = speed();
        const waitMs = delayMs + (1_000 * chunk.length) / bytesPerSecond;
        this.#carried.add(from);
        if (waitMs > 0) await pause(waitMs);
        if (!to.write(chunk)) await new Promise((resolve) => to.once("drain", resolve).once("close", resolve));
        this.#carried.delete(from);
      }
      to.end();
    } catch {
      to.destroy();
    } finally {
      this.#carried.delete(from);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
