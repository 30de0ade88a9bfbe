import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { messageInFull, type SchemaSnapshot } from "@shoal/rpc";
import { createRpcServer, type RpcServices } from "@shoal/rpc/grpc";
import { type Logger, ResourceScope, silentLogger } from "@shoal/service-runtime";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followCoordinators } from "./follow-coordinators.js";

let scope: ResourceScope;
beforeEach(() => {
  scope = new ResourceScope();
});
afterEach(() => scope[Symbol.asyncDispose]());

const now = () => Date.now();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What is logged from `warn` up to `info`, as message and error. */
function listeningLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const add = ({ error = "" }: { readonly error?: string }, message: string) =>
    lines.push(`${message} ${error}`.trim());
  return { logger: { ...silentLogger, warn: add, info: add } as unknown as Logger, lines };
}

function serveSchema(port: number) {
  const snapshot: SchemaSnapshot = { historyId: "h", version: 1, classes: [] };
  const schema = {
    current: async () => snapshot,
    watch(listener: (reported: SchemaSnapshot) => void) {
      listener(snapshot);
      return { [Symbol.dispose]() {} };
    },
  };
  return createRpcServer({ schema } as unknown as RpcServices, { host: "127.0.0.1", port, now });
}

it("tells once that no coordinator can be reached, and why, and when one is there again", async () => {
  const port = await freePort();
  const { logger, lines } = listeningLogger();
  const connection = scope.use(followCoordinators([`127.0.0.1:${port}`], { now, logger }, scope, 100));
  const subscription = connection.schema.watch(() => undefined);
  scope.defer(() => subscription[Symbol.dispose]());
  await vi.waitFor(() => expect(lines).toHaveLength(1), 60_000);
  expect(lines[0]).toContain("no coordinator can be reached");
  const address = `127.0.0.1:${port}`;
  expect(lines[0]).toContain(`no connection to ${address}`);
  // The first attempt may fail before the network has said why.
  const reason = `no connection to ${address} (connect ECONNREFUSED ${address})`;
  const asked = () =>
    connection.schema.current({ deadline: now() + 1_000 }).catch((error: unknown) => {
      throw new Error(messageInFull(error));
    });
  await vi.waitFor(() => expect(asked()).rejects.toThrow(reason), 60_000);
  scope.use(await serveSchema(port));
  await vi.waitFor(() => expect(lines).toHaveLength(2), 60_000);
  expect(lines[1]).toBe("a coordinator can be reached again");
});

it("says nothing of one that is there", async () => {
  const server = scope.use(await serveSchema(0));
  const { logger, lines } = listeningLogger();
  const connection = scope.use(followCoordinators([`127.0.0.1:${server.port}`], { now, logger }, scope, 100));
  const reported = vi.fn();
  const subscription = connection.schema.watch(reported);
  scope.defer(() => subscription[Symbol.dispose]());
  await vi.waitFor(() => expect(reported).toHaveBeenCalled(), 60_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(lines).toEqual([]);
});
