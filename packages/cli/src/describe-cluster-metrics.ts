import type { SchemaView } from "@shoal/cluster";
import type { ConnectionState, NodeDirectory } from "@shoal/rpc";
import type { Metrics } from "@shoal/service-runtime";

const STATES: readonly ConnectionState[] = ["connecting", "ready", "draining", "unreachable"];

/** What a gateway knows of the cluster. Their names are promised in `deploy/METRICS.md`. */
export interface GatewayKnowledge {
  readonly view: Pick<SchemaView, "snapshot">;
  /** Undefined until a coordinator has reported it. */
  readonly directory: () => NodeDirectory | undefined;
  /** States of the connections to storage nodes. */
  readonly states: () => Iterable<ConnectionState>;
  readonly heldRequests: () => number;
}

/** Declares what a gateway tells of the cluster. */
export function describeGatewayKnowledge(metrics: Metrics, knowledge: GatewayKnowledge): void {
  describeSchemaVersion(metrics, () => knowledge.view.snapshot.version);
  describeDirectory(metrics, knowledge.directory);
  metrics.gauge(
    { name: "shoal_node_connections", help: "Storage nodes that this gateway knows, by state.", labelNames: ["state"] },
    () => {
      const all = [...knowledge.states()];
      return STATES.map((state) => ({ labels: { state }, value: all.filter((one) => one === state).length }));
    },
  );
  metrics.gauge({ name: "shoal_held_requests", help: "Requests that wait for a storage node which restarts." }, () => [
    { value: knowledge.heldRequests() },
  ]);
}

/** Declares the version of the schema that a process knows. */
export function describeSchemaVersion(metrics: Metrics, read: () => number): void {
  metrics.gauge({ name: "shoal_schema_version", help: "Version of the schema that this process knows." }, () => [
    { value: read() },
  ]);
}

/** Declares how many storage nodes there are, as this process knows. */
export function describeDirectory(metrics: Metrics, read: () => NodeDirectory | undefined): void {
  const gauge = (name: string, help: string, value: (directory: NodeDirectory) => number): void =>
    metrics.gauge({ name, help }, () => {
      const directory = read();
      return directory === undefined ? [] : [{ value: value(directory) }];
    });
  gauge("shoal_storage_nodes_registered", "Storage nodes that have registered once.", ({ nodes }) => nodes.length);
  gauge(
    "shoal_storage_nodes_expected",
    "Storage nodes that must have registered before classes can be made.",
    ({ expectedStorageNodes }) => expectedStorageNodes,
  );
}

/** Declares whether something that the process depends on answers it; `fault` says why not, "" that it does. */
export function describeReachability(metrics: Metrics, name: string, help: string, fault: () => string): void {
  metrics.gauge({ name, help }, () => [{ value: fault() === "" ? 1 : 0 }]);
}
