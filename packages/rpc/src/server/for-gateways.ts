import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { peerNames } from "../tls/peer-names.js";
import { statusOf } from "../wire/status-codec.js";
import { guardedHandlers } from "./guarded-handlers.js";

/** The name in the certificates of gateways: they alone ask nodes for data, and for changes of what is known. */
const GATEWAY = "gateway";
const COORDINATOR = "coordinator";

/** `handlers`, which refuse whoever proves to be no coordinator. */
export function forCoordinators<Handlers extends UntypedServiceImplementation>(handlers: Handlers): Handlers {
  return guardedHandlers(handlers, (method, call) => {
    const names = peerNames(call.getAuthContext().sslPeerCertificate ?? {});
    if (names.includes(COORDINATOR)) return undefined;
    return statusOf(new ShoalError("forbidden", `${method} is for coordinators, it was called by ${prove(names)}`));
  });
}

/** `handlers`, where the methods that are not `open` to every process refuse whoever proves to be no gateway. */
export function forGateways<Handlers extends UntypedServiceImplementation>(
  handlers: Handlers,
  open: readonly (keyof Handlers & string)[],
): Handlers {
  return guardedHandlers(handlers, (method, call) => {
    if (open.includes(method)) return undefined;
    const names = peerNames(call.getAuthContext().sslPeerCertificate ?? {});
    if (names.includes(GATEWAY)) return undefined;
    return statusOf(new ShoalError("forbidden", `${method} is for gateways, it was called by ${prove(names)}`));
  });
}

function prove(names: readonly string[]): string {
  return names.length === 0 ? "nobody" : `whoever has the certificate of ${names.map((one) => `'${one}'`).join(", ")}`;
}
