import type {
  handleUnaryCall,
  ServerUnaryCall,
  StatusObject,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { undelivered } from "../delivery.js";
import { certificateNames, inWords } from "../tls/peer-names.js";
import { CLUSTER_ID, statusOf } from "../wire/status-codec.js";

type AnyUnary = handleUnaryCall<unknown, unknown>;
type AnyCall = ServerUnaryCall<unknown, unknown>;

/**
 * `handlers`, where the methods that are not `isForAll` refuse whoever proves to be no `role` (the name in the certificates of
 * its processes): gateways alone ask nodes for data, and for changes of what is known.
 */
export function onlyFor(
  role: "gateway" | "coordinator",
  handlers: UntypedServiceImplementation,
  isForAll: (method: string) => boolean = () => false,
): UntypedServiceImplementation {
  return guarded(handlers, (method, call) => {
    if (isForAll(method)) return undefined;
    const names = certificateNames(call);
    if (names.includes(role)) return undefined;
    const caller = names.length === 0 ? "nobody" : `whoever has the certificate of ${inWords(names)}`;
    return statusOf(new ShoalError("forbidden", `${method} is for ${role}s, it was called by ${caller}`));
  });
}

/** The one method by which an empty store becomes that of another cluster. */
const RESTORE = "Restore";

/** `handlers`, which refuse whoever names another cluster. A process that knows of none yet names none. */
export function ofOneCluster(
  handlers: UntypedServiceImplementation,
  clusterId: () => string | undefined,
): UntypedServiceImplementation {
  return guarded(handlers, (method, call) => {
    const own = clusterId();
    const [named] = call.metadata.get(CLUSTER_ID);
    if (own === undefined || named === undefined || named === own || method === RESTORE) return undefined;
    const message =
      `the coordinator is of cluster '${own}', it was called by a process of cluster '${String(named)}': it must start on ` +
      "the store of that cluster; if that is lost, 'shoal cluster restore-schema' brings the schema back";
    const refusal = statusOf(undelivered(new ShoalError("unavailable", message, { retryAfterSeconds: 1 }), "never"));
    refusal.metadata?.set(CLUSTER_ID, own);
    return refusal;
  });
}

/** `handlers`, where a call for which `refusal` gives a status ends with it. */
function guarded(
  handlers: UntypedServiceImplementation,
  refusal: (method: string, call: AnyCall) => Partial<StatusObject> | undefined,
): UntypedServiceImplementation {
  const entries = Object.entries(handlers).map(([method, handle]): [string, UntypedHandleCall] => {
    const guard: AnyUnary = (call, callback) => {
      const status = refusal(method, call);
      if (status === undefined) return (handle as AnyUnary)(call, callback);
      // Streams have no callback; what they emit as an error becomes their status.
      if (callback === undefined) (call as AnyCall).emit("error", status);
      else callback(status);
    };
    return [method, guard];
  });
  return Object.fromEntries(entries);
}
