import type { HttpClient } from "../../http-client.js";
import { ServerProcess } from "../../server-process.js";

/** What the oracle asks, and does to it in between. */
export interface OracleServer extends AsyncDisposable {
  readonly http: HttpClient;
  /** Stopped in an orderly way and started again. */
  restart(): Promise<void>;
  /** Ended by kill -9 and started again. */
  crash(): Promise<void>;
}

export async function startOneProcess(env: Readonly<Record<string, string>>): Promise<OracleServer> {
  const server = await ServerProcess.start({ env });
  return {
    http: server.http,
    restart: () => server.restart(),
    crash: () => server.kill().then(() => server.launch()),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
