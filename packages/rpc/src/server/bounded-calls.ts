import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { boundedHolder } from "../tls/outsiders.js";
import { inWords, peerNames } from "../tls/peer-names.js";
import { statusOf } from "../wire/status-codec.js";

/**
 * Calls at once of one connection; clients keep further ones until there is room. A process has up to six to a coordinator that stay
 * open, a storage node one over each connection to another one, and a gateway one over each to a storage node. The rest is for what ends soon: the
 * changes of a gateway's users.
 */
export const CONNECTION_CALLS_MAX = 1_000;

/**
 * Calls at once of one certificate that is no gateway's or coordinator's, over all of its connections. All storage nodes may share one: it
 * has at most half of a port's connections, 128, with some eight calls each. An open call takes 25 kB.
 */
const HOLDER_CALLS_MAX = 1_000;

/** Counts the calls of each certificate from their first byte to their end, and refuses what goes beyond with `overloaded`. */
export function boundedCalls(): ServerInterceptor {
  const open = new Map<string, number>();
  return (_method, call) => {
    const certificate = call.getAuthContext().sslPeerCertificate;
    const holder = certificate && boundedHolder(certificate);
    // As it is: what gateways ask of storage nodes takes no way around. grpc-js takes it, and its types do not know.
    if (certificate === undefined || holder === undefined) return call as ServerInterceptingCall;
    const count = open.get(holder) ?? 0;
    if (count >= HOLDER_CALLS_MAX) {
      const text = `more than ${HOLDER_CALLS_MAX} calls at once by whoever has the certificate of ${inWords(peerNames(certificate))}`;
      const { metadata = null } = statusOf(new ShoalError("overloaded", text, { retryAfterSeconds: 1 }));
      const refusal = { code: status.RESOURCE_EXHAUSTED, details: text, metadata };
      const onReceiveMetadata = (): void => call.sendStatus(refusal);
      return new ServerInterceptingCall(call, { start: (next) => next({ onReceiveMetadata }) });
    }
    open.set(holder, count + 1);
    let isOpen = true;
    // Called at the end of each call, however it ends, and more than once.
    const onCancel = (): void => {
      if (!isOpen) return;
      isOpen = false;
      const left = (open.get(holder) ?? 0) - 1;
      if (left > 0) open.set(holder, left);
      else open.delete(holder);
    };
    return new ServerInterceptingCall(call, { start: (next) => next({ onCancel }) });
  };
}
