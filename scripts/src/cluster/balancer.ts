import { connect, createServer, type Server, type Socket } from "node:net";
import { ShoalError } from "@shoal/model";

/** A place that connections go to. */
export interface Backend {
  readonly host: string;
  readonly port: number;
  /** Whether new connections should go there. */
  readonly isReady: () => boolean;
}

/** How long a connection is held while no backend takes it. */
const HOLD_MS = 10_000;
const RETRY_MS = 50;

/**
 * One address for several backends: connection by connection in turn, bytes as they are. A backend that is not ready or
 * refuses is passed over; while there is none, connections are held for a while.
 */
export class Balancer implements AsyncDisposable {
  readonly #backends: readonly Backend[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  constructor(backends: readonly Backend[], connectionsMax: number) {
    this.#backends = backends;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => void this.#serve(client));
    this.#server.maxConnections = connectionsMax;
  }

  /** The port that was taken. Fails with `unavailable` when it cannot listen. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause) =>
        reject(new ShoalError("unavailable", `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
      );
      this.#server.listen({ host, port }, resolve);
    });
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  /** Takes no new connections; those that are there go on. */
  close(): void {
    this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(client: Socket): Promise<void> {
    this.#keep(client);
    // Nothing is read before somebody takes it.
    client.pause();
    const backend = await this.#connected(client);
    if (backend === undefined || client.destroyed) {
      backend?.destroy();
      client.destroy();
      return;
    }
    this.#keep(backend);
    client.pipe(backend).pipe(client);
    // Either side that breaks breaks the other: a client must not take half an answer for a whole one.
    client.on("close", () => backend.destroy());
    backend.on("close", () => client.destroySoon());
    backend.on("error", () => client.resetAndDestroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }

  /** A connection to a backend that is ready, or, when none has been for a while, to any that accepts one. */
  async #connected(client: Socket): Promise<Socket | undefined> {
    const until = performance.now() + HOLD_MS;
    while (!client.destroyed) {
      const isLate = performance.now() >= until;
      const inTurn = this.#backends.map((_, i) => this.#backends[(this.#turn + i) % this.#backends.length]);
      this.#turn++;
      for (const backend of inTurn) {
        if (backend === undefined || !(isLate || backend.isReady())) continue;
        const socket = await open(backend);
        if (socket !== undefined) return socket;
      }
      if (isLate) return undefined;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    return undefined;
  }
}

function open({ host, port }: Backend): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    socket.once("error", () => resolve(undefined));
    socket.once("connect", () => resolve(socket));
  });
}
