import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { undelivered } from "../delivery.js";
import { CLUSTER_ID, statusOf } from "../wire/status-codec.js";
import { guardedHandlers } from "./guarded-handlers.js";

/** The one method by which an empty store becomes that of another cluster. */
const RESTORE = "Restore";

/** `handlers`, which refuse whoever names another cluster. A process that knows of none yet names none. */
export function ofOneCluster<Handlers extends UntypedServiceImplementation>(
  handlers: Handlers,
  clusterId: () => string | undefined,
): Handlers {
  return guardedHandlers(handlers, (method, call) => {
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
