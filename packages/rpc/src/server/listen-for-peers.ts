import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { boundedHolder, isOutsider } from "../tls/outsiders.js";
import { peerNames } from "../tls/peer-names.js";
import type { TlsMaterial, TlsSource } from "../tls/tls-source.js";
import { CallerSockets } from "./caller-sockets.js";

/** Connections of one internal port. A gateway has two to each storage node, a storage node two to another, every process one to each coordinator. */
export const CONNECTIONS_MAX = 256;

/** What every HTTP/2 client says first (RFC 9113, 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Plain text when undefined; otherwise every caller needs a certificate of the same authorities, and none of an outsider. */
  readonly tls?: TlsSource | undefined;
  /** `CONNECTIONS_MAX` unless there are open files for fewer. */
  readonly connectionsMax?: number | undefined;
}

/** A port that is listened on. Disposed of, it lets nobody in any more; peers stay. */
export interface ListenedPort extends Disposable {
  readonly port: number;
}

/**
 * Hands `server` the connections of peers: of callers whose TLS handshake is over, or without TLS, that have sent the
 * preface of HTTP/2. Until then they are strangers, as `CallerSockets` treats them. grpc-js has no bound for
 * connections and none for handshakes. Fails with `unavailable` when the port is taken.
 */
export async function listenForPeers(server: Server, options: ListenOptions): Promise<ListenedPort> {
  const { host, port, tls, connectionsMax = CONNECTIONS_MAX } = options;
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new CallerSockets(connectionsMax);
  const admit = (socket: Socket, holder?: string): void => {
    if (sockets.admit(socket, holder)) injector.injectConnection(socket);
    else socket.destroy();
  };
  const door = tls === undefined ? prefaces(admit) : handshakes(tls, admit);
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    if (sockets.take(socket)) door.greet(socket);
  });
  const close = (): void => {
    listener.close();
    door[Symbol.dispose]();
    sockets.cutStrangers();
  };
  listener.listen({ host, port });
  await once(listener, "listening").catch((thrown: Error) => {
    close();
    throw new ShoalError("unavailable", `cannot listen on ${host}:${port}: ${thrown.message}`, { cause: thrown });
  });
  return { port: (listener.address() as AddressInfo).port, [Symbol.dispose]: close };
}

/** What becomes of strangers. */
interface Door extends Disposable {
  greet(socket: Socket): void;
}

/** Calls `heard` with each socket whose other side begins as HTTP/2 does; cuts those that begin otherwise. */
function prefaces(heard: (socket: Socket) => void): Door {
  const greet = (socket: Socket): void => {
    let said = Buffer.alloc(0);
    const read = (): void => {
      const bytes: Buffer | null = socket.read();
      if (bytes === null) return;
      said = Buffer.concat([said, bytes]);
      const head = said.subarray(0, PREFACE.length);
      if (!head.equals(PREFACE.subarray(0, head.length))) socket.destroy();
      else if (head.length === PREFACE.length) {
        socket.off("readable", read);
        socket.unshift(said);
        heard(socket);
      }
    };
    socket.on("readable", read);
  };
  return { greet, [Symbol.dispose]: () => undefined };
}

/** Calls `done` with what comes out of the handshake of each socket; who has no certificate of ours, or that of an outsider, is cut. `holder`: whose certificate it is, unless that is a gateway's or coordinator's. */
function handshakes(tls: TlsSource, done: (socket: Socket, holder?: string) => void): Door {
  const server = createTlsServer({
    ...contextOf(tls.current()),
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ["h2"],
  });
  const following = tls.onChange((material) => server.setSecureContext(contextOf(material)));
  server.on("secureConnection", (socket) => {
    socket.on("error", () => undefined);
    const certificate = socket.getPeerCertificate();
    if (isOutsider(peerNames(certificate))) socket.destroy();
    else done(socket, boundedHolder(certificate));
  });
  return {
    greet: (socket) => void server.emit("connection", socket),
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

function contextOf({ ca, certificate, key }: TlsMaterial) {
  return { ca, cert: certificate, key };
}
