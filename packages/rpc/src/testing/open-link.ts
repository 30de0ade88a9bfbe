import { type ConnectNodeOptions, connectNode } from "../client/node-channel.js";
import type { ConnectionState, NodeConnection } from "../node-connection.js";
import { createRpcServer, type RpcServer, type RpcServerOptions } from "../server/rpc-server.js";
import type { ServedNode } from "../server/shard-server.js";

const now = (): number => Date.now();

/** A node that is served on this machine, and a connection to it. */
export interface Link extends AsyncDisposable {
  readonly client: NodeConnection;
  readonly server: RpcServer;
}

export interface LinkOptions {
  readonly server?: Partial<RpcServerOptions>;
  readonly client?: Partial<ConnectNodeOptions>;
}

/** Resolves when the connection is ready. */
export async function openLink(node: ServedNode, options: LinkOptions = {}): Promise<Link> {
  const server = await createRpcServer({ node }, { host: "127.0.0.1", port: 0, now, ...options.server });
  const client = connectNode(node.name, `127.0.0.1:${server.port}`, { now, schemaVersion: () => 0, ...options.client });
  await reach(client, "ready");
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Resolves when the connection is in that state; `isAnew`: when it enters it, or an attempt fails, after this call. */
export async function reach(client: NodeConnection, state: ConnectionState, isAnew = false): Promise<void> {
  if (client.state === state && !isAnew) return;
  await new Promise<void>((resolve) => {
    const subscription = client.onState((entered) => {
      if (entered !== state) return;
      subscription[Symbol.dispose]();
      resolve();
    });
  });
}
