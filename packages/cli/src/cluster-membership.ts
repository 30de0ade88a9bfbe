import type { SchemaView } from "@shoal/cluster";
import type { CoordinatorConnection } from "@shoal/rpc/grpc";
import type { Metrics } from "@shoal/service-runtime";

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
  metrics.gauge({ name: "shoal_foreign_coordinator", help }, () => [{ value: membership.fault === "" ? 0 : 1 }]);
}
