import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { endsOf } from "./open-server.js";

it("tells connections apart that come from one port to two addresses of this machine", async () => {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  const open = (host: string, localPort?: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const local = localPort === undefined ? {} : { localPort };
      const client = connect({ host, port, localAddress: "127.0.0.1", ...local });
      clients.push(client);
      client.once("error", reject).once("connect", () => resolve(client.localPort ?? 0));
    });
  try {
    await open("127.0.0.2", await open("127.0.0.1"));
    await expect.poll(() => accepted.length).toBe(2);
    expect(new Set(accepted.map(({ remoteAddress, remotePort }) => `${remoteAddress} ${remotePort}`)).size).toBe(1);
    expect(new Set(accepted.map(endsOf)).size).toBe(2);
  } finally {
    for (const socket of [...clients, ...accepted]) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});
