import { Server as NetServer, type Socket } from "node:net";
import { duplicateDescriptor } from "@shoal/native";

/** What Node keeps of a server that listens; it has no public name. */
interface Listening {
  readonly _handle?: { readonly fd?: number } | null;
}

/** How a server treats its connections, which each of its handles must do alike. */
export interface ConnectionOptions {
  readonly allowHalfOpen: boolean;
  readonly noDelay: boolean;
}

/**
 * Listens with `count` more handles on the socket that `server` listens on, and gives it the connections that they accept: libuv
 * accepts one connection a handle in an iteration of the event loop (`uv__server_io`), so a single handle falls behind when iterations are
 * long and connections many. There is one queue of connections in the kernel, and one port, until the last handle is closed.
 *
 * Their connections do not count as those of `server`. Where a handle has no descriptor (Windows) there are no more.
 */
export async function listenMore(
  server: NetServer,
  count: number,
  backlog: number,
  options: ConnectionOptions,
): Promise<readonly NetServer[]> {
  const descriptor = (server as Listening)._handle?.fd;
  if (descriptor === undefined || descriptor < 0) return [];
  const more: NetServer[] = [];
  try {
    while (more.length < count) more.push(await listenOn(duplicateDescriptor(descriptor), backlog, options));
  } catch (error) {
    for (const one of more) one.close();
    throw error;
  }
  for (const one of more) one.on("connection", (socket: Socket) => server.emit("connection", socket));
  return more;
}

/** The descriptor belongs to the handle from then on. */
function listenOn(descriptor: number, backlog: number, options: ConnectionOptions): Promise<NetServer> {
  const server = new NetServer(options);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ fd: descriptor }, backlog, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
