import { once } from "node:events";
import type { SchemaReplica, SchemaView } from "@shoal/cluster";
import { messageInFull } from "@shoal/rpc";
import { type ConnectCoordinatorOptions, type CoordinatorConnection, connectCoordinator } from "@shoal/rpc/grpc";
import type { Logger, Metrics, ResourceScope } from "@shoal/service-runtime";
import { gauge } from "./internal-port.js";

/** So long may they be away, as when one is restarted, before it is logged. */
const QUIET_MS = 3_000;

interface FollowOptions extends Omit<ConnectCoordinatorOptions, "onReachable"> {
  readonly logger: Logger;
}

/** Connects to the coordinators, and logs when none can be reached, at the start too, and when one is back. */
export function followCoordinators(
  addresses: readonly string[],
  { logger, ...options }: FollowOptions,
  scope: ResourceScope,
  quietMs: number = QUIET_MS,
): CoordinatorConnection {
  let isReported = false;
  const tell = async (): Promise<void> => {
    const reason = await connection.schema.current({ deadline: options.now() + QUIET_MS }).then(
      () => undefined,
      (thrown: unknown) => messageInFull(thrown),
    );
    if (reason === undefined || connection.isReachable) return;
    isReported = true;
    logger.warn({ coordinators: addresses, error: reason }, "no coordinator can be reached");
  };
  let timer = setTimeout(() => void tell(), quietMs).unref();
  scope.defer(() => clearTimeout(timer));
  const connection = connectCoordinator(addresses, {
    ...options,
    onReachable(isReachable) {
      clearTimeout(timer);
      if (!isReachable) timer = setTimeout(() => void tell(), quietMs).unref();
      else if (isReported) logger.info({}, "a coordinator can be reached again");
      isReported &&= !isReachable;
    },
  });
  return connection;
}

/** Resolves when there is a schema, or when the process has to stop before: whether there is one. */
export async function untilKnown(view: SchemaReplica, stopping: AbortSignal): Promise<boolean> {
  if (view.isKnown || stopping.aborted) return view.isKnown;
  const stopped = once(stopping, "abort");
  let subscription: Disposable | undefined;
  const known = new Promise<void>((resolve) => {
    subscription = view.onChange(() => resolve());
  });
  await Promise.race([known, stopped]);
  subscription?.[Symbol.dispose]();
  return view.isKnown;
}

/** Which cluster this process belongs to, and whether the coordinator that it reaches does. */
export interface ClusterMembership {
  /** Undefined until a coordinator has first reported it. */
  readonly clusterId: string | undefined;
  /** Why the coordinator's schema is not followed; "" when there is no such reason. */
  readonly fault: string;
}

export function clusterMembership(
  view: Pick<SchemaView, "snapshot">,
  coordinator: Pick<CoordinatorConnection, "foreignClusterId">,
  storedClusterId?: string,
): ClusterMembership {
  return {
    get clusterId() {
      return storedClusterId ?? view.snapshot.clusterId;
    },
    get fault() {
      const { foreignClusterId } = coordinator;
      if (foreignClusterId === undefined) return "";
      return (
        `the coordinator is of cluster '${foreignClusterId}', this process of cluster '${this.clusterId ?? ""}': it goes on ` +
        "with the schema that it knows. The coordinator's store is not that of this cluster: put it back, or see " +
        "'shoal cluster restore-schema --help'"
      );
    },
  };
}

/** Declares whether the coordinator is of another cluster than this process. */
export function describeMembership(metrics: Metrics, membership: ClusterMembership): void {
  const help = "1 while the coordinator is of another cluster, as one that starts with an empty store.";
  gauge(metrics, "shoal_foreign_coordinator", help, () => (membership.fault === "" ? 0 : 1));
}
