import { createServer, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { ServerCertificate, ServerCertificateSource } from "./http-server-settings.js";
import type { ConnectionOptions } from "./listen-more.js";

/** A server that does not listen yet, and what closing its HTTP connections leaves open. */
export interface OpenedServer {
  readonly server: Server;
  /** Of the sockets that come to it. */
  readonly connectionOptions: ConnectionOptions;
  /** The connection that was accepted for it; with TLS a socket is another one when the handshake is over. */
  carrierOf(socket: Socket): Socket | undefined;
  /** Cuts connections that have not got as far as HTTP, and follows no certificate any more. */
  cut(): void;
}

/** Plain HTTP without a certificate, with one HTTP/1.1 over TLS and nothing else. */
export function openServer(options: ServerOptions, certificate: ServerCertificateSource | undefined): OpenedServer {
  const noDelay = options.noDelay ?? true;
  if (certificate === undefined) {
    const connectionOptions = { allowHalfOpen: true, noDelay };
    return { server: createServer(options), connectionOptions, carrierOf: (socket) => socket, cut: () => undefined };
  }
  const handshakeTimeout = options.headersTimeout;
  const server = createTlsServer({
    ...options,
    ...secureContext(certificate.current()),
    ...(handshakeTimeout === undefined ? {} : { handshakeTimeout }),
  });
  const following = certificate.onChange((fresh) => server.setSecureContext(secureContext(fresh)));
  const sockets = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const ends = endsOf(socket);
    sockets.set(ends, socket);
    socket.once("close", () => sockets.delete(ends));
  });
  return {
    server,
    connectionOptions: { allowHalfOpen: false, noDelay },
    carrierOf: (socket) => sockets.get(endsOf(socket)),
    cut() {
      following[Symbol.dispose]();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

type Ends = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;

/** Tells a connection from every other: one client may reach two addresses of this machine from the same port. */
export function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Ends): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}

function secureContext({ certificate, key }: ServerCertificate) {
  return { cert: certificate, key, minVersion: "TLSv1.2" } as const;
}
