import { createServer, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { ServerCertificate, ServerCertificateSource } from "./http-server-settings.js";

/** A server that does not listen yet, and what closing its HTTP connections leaves open. */
export interface OpenedServer {
  readonly server: Server;
  /** Cuts connections that have not got as far as HTTP, and follows no certificate any more. */
  cut(): void;
}

/** Plain HTTP without a certificate, with one HTTP/1.1 over TLS and nothing else. */
export function openServer(options: ServerOptions, certificate: ServerCertificateSource | undefined): OpenedServer {
  if (certificate === undefined) return { server: createServer(options), cut: () => undefined };
  const handshakeTimeout = options.headersTimeout;
  const server = createTlsServer({
    ...options,
    ...secureContext(certificate.current()),
    ...(handshakeTimeout === undefined ? {} : { handshakeTimeout }),
  });
  const following = certificate.onChange((fresh) => server.setSecureContext(secureContext(fresh)));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return {
    server,
    cut() {
      following[Symbol.dispose]();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function secureContext({ certificate, key }: ServerCertificate) {
  return { cert: certificate, key, minVersion: "TLSv1.2" } as const;
}
