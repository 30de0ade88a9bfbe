import type { handleUnaryCall, ServerUnaryCall, UntypedHandleCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { peerNames } from "../tls/peer-names.js";
import { statusOf } from "../wire/status-codec.js";

/** The name in the certificates of gateways: they alone ask nodes for data, and for changes of what is known. */
const GATEWAY = "gateway";

type AnyUnary = handleUnaryCall<unknown, unknown>;

/** `handlers`, where the methods that are not `open` to every process refuse whoever proves to be no gateway. */
export function forGateways<Handlers extends UntypedServiceImplementation>(
  handlers: Handlers,
  open: readonly (keyof Handlers & string)[],
): Handlers {
  const guarded = Object.entries(handlers).map(([method, handle]): [string, UntypedHandleCall] => [
    method,
    open.includes(method) ? handle : guard(method, handle),
  ]);
  return Object.fromEntries(guarded) as Handlers;
}

function guard(method: string, handle: UntypedHandleCall): UntypedHandleCall {
  const guarded: AnyUnary = (call, callback) => {
    const names = peerNames(call.getAuthContext().sslPeerCertificate ?? {});
    if (names.includes(GATEWAY)) return (handle as AnyUnary)(call, callback);
    const refusal = statusOf(
      new ShoalError("forbidden", `${method} is for gateways, it was called by ${prove(names)}`),
    );
    // Streams have no callback; what they emit as an error becomes their status.
    if (callback === undefined) (call as ServerUnaryCall<unknown, unknown>).emit("error", refusal);
    else callback(refusal);
  };
  return guarded;
}

function prove(names: readonly string[]): string {
  return names.length === 0 ? "nobody" : `whoever has the certificate of ${names.map((one) => `'${one}'`).join(", ")}`;
}
