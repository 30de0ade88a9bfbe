import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What stands between two sides and can be cut: nothing gets through any more, and nobody is told. */
export interface Cable extends AsyncDisposable {
  readonly port: number;
  cut(): void;
  /** For connections that are made from now on. */
  mend(): void;
}

export async function openCable(targetPort: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      if (isCut) socket.pause();
    }
    if (isCut) return;
    client.pipe(target);
    target.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
