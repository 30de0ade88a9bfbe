import type {
  handleUnaryCall,
  ServerUnaryCall,
  StatusObject,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { undelivered } from "../delivery.js";
import { isMember } from "../tls/outsiders.js";
import { certificateNames, inWords } from "../tls/peer-names.js";
import { CLUSTER_ID, NODE_NAME, statusOf } from "../wire/status-codec.js";

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

/** `handlers`, which refuse whoever does not prove to be the storage node that it says it is. */
export function onlyAsItself(handlers: UntypedServiceImplementation): UntypedServiceImplementation {
  return guarded(handlers, (_method, call) => {
    const names = certificateNames(call);
    const name = nodeNameOf(call);
    const fault = isMember(names) ? notThatNode(name, names) : nodeFault(name, names);
    return fault && statusOf(fault);
  });
}

/** Which storage node a caller says it is. */
export function nodeNameOf(call: Pick<AnyCall, "metadata">): string {
  return String(call.metadata.get(NODE_NAME)[0] ?? "");
}

/** `forbidden` when those names in a certificate are not of storage node `name`. */
export function nodeFault(name: string, names: readonly string[]): ShoalError | undefined {
  return names.includes(name) ? undefined : notThatNode(name, names);
}

function notThatNode(name: string, names: readonly string[]): ShoalError {
  return new ShoalError("forbidden", `whoever has the certificate of ${inWords(names)} spoke for node '${name}'`);
}

/** The one method by which an empty store becomes that of another cluster. */
const RESTORE = "Restore";

/**
 * `handlers`, which refuse whoever names another cluster. A process that knows of none yet names none. `explain`: what is said
 * to a process of another cluster than the `own` one.
 */
export function ofOneCluster(
  handlers: UntypedServiceImplementation,
  clusterId: () => string | undefined,
  explain: (own: string, named: string) => string = explainCoordinator,
): UntypedServiceImplementation {
  return guarded(handlers, (method, call) => {
    const own = clusterId();
    const [named] = call.metadata.get(CLUSTER_ID);
    if (own === undefined || named === undefined || named === own || method === RESTORE) return undefined;
    const message = explain(own, String(named));
    const refusal = statusOf(undelivered(new ShoalError("unavailable", message, { retryAfterSeconds: 1 }), "never"));
    refusal.metadata?.set(CLUSTER_ID, own);
    return refusal;
  });
}

/** What a storage node says to one of another cluster. */
export function explainNode(own: string, named: string): string {
  return `the storage node is of cluster '${own}', it was called by one of cluster '${named}'`;
}

function explainCoordinator(own: string, named: string): string {
  return (
    `the coordinator is of cluster '${own}', it was called by a process of cluster '${named}': it must start on ` +
    "the store of that cluster; if that is lost, 'shoal cluster restore-schema' brings the schema back"
  );
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
