import { setTimeout as sleep } from "node:timers/promises";
import type { RpcServer } from "@shoal/rpc/grpc";

/** Lets what the others asked for be answered, for so long at most. */
export async function drainServer(server: RpcServer, timeoutSeconds: number): Promise<void> {
  const timeout = new AbortController();
  const late = sleep(timeoutSeconds * 1000, undefined, { signal: timeout.signal }).catch(() => undefined);
  await Promise.race([server.drain(), late]);
  timeout.abort();
}
