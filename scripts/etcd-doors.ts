import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { createConnection } from "node:net";

/** Whether etcd is installed. Tests that need it are skipped without, and say so in their name. */
export const HAS_ETCD = spawnSync("etcd", ["--version"]).status === 0;

/** By what somebody proves who he is; PEM. */
export interface Pass {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** An etcd of tests that listens on ports of the loopback address. */
export class EtcdDoors implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ports: { readonly client: number; readonly peer: number };
  #log = "";

  private constructor(process: ChildProcess, ports: { readonly client: number; readonly peer: number }) {
    this.#process = process;
    this.#ports = ports;
    for (const output of [process.stdout, process.stderr]) {
      output?.on("data", (text) => {
        this.#log += text;
      });
    }
  }

  /** Resolves when both ports take connections. `flags` are those of etcd. */
  static async start(
    flags: readonly string[],
    ports: { readonly client: number; readonly peer: number },
  ): Promise<EtcdDoors> {
    const etcd = new EtcdDoors(spawn("etcd", flags, { stdio: ["ignore", "pipe", "pipe"] }), ports);
    for (const port of [ports.client, ports.peer]) {
      while (!(await takesConnections(port))) {
        if (etcd.#process.exitCode !== null) throw new Error(`etcd ${flags.join(" ")}: ${etcd.#log}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    return etcd;
  }

  /** Whom both ports let do what. */
  async whatMay(pass: Pass): Promise<{ readonly read: boolean; readonly write: boolean; readonly peer: boolean }> {
    const { client, peer } = this.#ports;
    const read = await callsKv(client, pass, "Range", "0a0161");
    const write = await callsKv(client, pass, "Put", "0a0161120162");
    return { read, write, peer: await asksMembers(peer, pass) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    const end = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });
}

/** Names that etcd is reached by do not matter here: the question is whom it lets in. */
const anyServer = { checkServerIdentity: () => undefined };

/** Whether a call to etcd's gRPC is answered with success. `message`: in hexadecimal. */
function callsKv(port: number, pass: Pass, method: string, message: string): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ...pass, ...anyServer });
    let isDone = false;
    session.on("error", () => undefined);
    const headers = { ":method": "POST", ":path": `/etcdserverpb.KV/${method}`, te: "trailers" };
    const call = session.request({ ...headers, "content-type": "application/grpc" });
    call.on("trailers", (trailers) => {
      isDone = trailers["grpc-status"] === "0";
    });
    const end = (): void => {
      session.destroy();
      resolve(isDone);
    };
    call.on("error", end).on("close", end);
    call.resume();
    const bytes = Buffer.from(message, "hex");
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    call.end(Buffer.concat([head, bytes]));
  });
}

/** Whether the port for other members answers. */
function asksMembers(port: number, pass: Pass): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path: "/members", ...pass, ...anyServer, agent: false });
    asked.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on("error", () => resolve(false));
    asked.end();
  });
}
