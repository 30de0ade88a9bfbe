import { createRpcServer, type RpcServer, type RpcServerOptions } from "../far/rpc-server.js";
import type { ServedNode } from "../far/shard-far-side.js";
import type { ConnectNodeOptions } from "../near/node-channel.js";
import { connectNode } from "../near/remote-node.js";
import type { ConnectionState, NodeConnection } from "../node-connection.js";

const now = (): number => Date.now();

/** A node that is served on this machine, and a connection to it. */
export interface Link extends AsyncDisposable {
  readonly near: NodeConnection;
  readonly server: RpcServer;
}

export interface LinkOptions {
  readonly far?: Partial<RpcServerOptions>;
  readonly near?: Partial<ConnectNodeOptions>;
}

/** Resolves when the connection is ready. */
export async function openLink(node: ServedNode, options: LinkOptions = {}): Promise<Link> {
  const server = await createRpcServer({ node }, { host: "127.0.0.1", port: 0, now, ...options.far });
  const near = connectNode(node.name, `127.0.0.1:${server.port}`, { now, schemaVersion: () => 0, ...options.near });
  await reach(near, "ready");
  return {
    near,
    server,
    async [Symbol.asyncDispose]() {
      near[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Resolves when the connection is in that state. */
export async function reach(near: NodeConnection, state: ConnectionState): Promise<void> {
  if (near.state === state) return;
  await new Promise<void>((resolve) => {
    const subscription = near.onState((entered) => {
      if (entered !== state) return;
      subscription[Symbol.dispose]();
      resolve();
    });
  });
}
