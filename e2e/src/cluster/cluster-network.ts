import { createServer } from "node:net";

/** Where a process listens and is reached by all others, and by us. */
export interface Seat {
  readonly host: string;
  /** What stands before its command line. */
  readonly prefix: readonly string[];
  /** A port for it, `usual` where ports need not be shared. */
  port(usual: number): Promise<number>;
}

/** What the processes of a cluster are connected by. */
export interface ClusterNetwork extends AsyncDisposable {
  seat(name: string): Seat;
}

/** Below those that the system gives to outgoing connections: a process that is started again gets its port. */
const PORT_MIN = 12_000;
const PORT_MAX = 32_000;

/** Everything on 127.0.0.1, each process on ports of its own. */
export class LoopbackNetwork implements ClusterNetwork {
  readonly #taken = new Set<number>();

  seat(): Seat {
    return { host: "127.0.0.1", prefix: [], port: () => this.#freePort() };
  }

  async #freePort(): Promise<number> {
    for (;;) {
      const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
      if (this.#taken.has(port) || !(await isFree(port))) continue;
      this.#taken.add(port);
      return port;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
