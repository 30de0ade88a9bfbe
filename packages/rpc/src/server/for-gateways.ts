import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { isOutsider } from "../tls/outsiders.js";
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

/** `handlers`, where the methods that are not `open` refuse whoever proves to be no gateway, and those that are only outsiders. */
export function forGateways<Handlers extends UntypedServiceImplementation>(
  handlers: Handlers,
  open: readonly (keyof Handlers & string)[],
): Handlers {
  return guardedHandlers(handlers, (method, call) => {
    const names = peerNames(call.getAuthContext().sslPeerCertificate ?? {});
    const isOpen = open.includes(method);
    if (names.includes(GATEWAY) || (isOpen && !isOutsider(names))) return undefined;
    const callers = isOpen ? "gateways and storage nodes" : "gateways";
    return statusOf(new ShoalError("forbidden", `${method} is for ${callers}, it was called by ${prove(names)}`));
  });
}

function prove(names: readonly string[]): string {
  return names.length === 0 ? "nobody" : `whoever has the certificate of ${names.map((one) => `'${one}'`).join(", ")}`;
}
