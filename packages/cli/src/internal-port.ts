import type { NodeDirectory, ShardService } from "@shoal/rpc";
import {
  type Configuration,
  type InternalRoute,
  InternalServer,
  type Logger,
  type Metrics,
  metricsRoute,
  probeRoute,
  type ResourceScope,
} from "@shoal/service-runtime";
import type { StorageNode } from "@shoal/storage-node";

export interface InternalPortOptions {
  readonly configuration: Pick<Configuration, "metricsPort" | "metricsHost" | "allowedHosts">;
  readonly shoalVersion: string;
  readonly logger: Logger;
  /** Why `GET /ready` of that port is 503; "" when it is 200. */
  readonly notReady: () => string;
  /** What else it serves. */
  readonly routes?: readonly InternalRoute[];
}

/** Listens on `METRICS_PORT`, from before the data is opened; undefined when it is not set. */
export async function openInternalPort(
  { configuration, shoalVersion, logger, notReady, routes = [] }: InternalPortOptions,
  scope: ResourceScope,
): Promise<Metrics | undefined> {
  const { metricsPort, metricsHost } = configuration;
  if (metricsPort === undefined) return undefined;
  const { Metrics } = await import("@shoal/service-runtime/metrics");
  const metrics = new Metrics();
  metrics.describeProcess();
  labelledGauge(metrics, "shoal_build_info", "1; the version is in the label.", "version", () => ({
    [shoalVersion]: 1,
  }));
  const probes = [probeRoute("/live", () => ""), probeRoute("/ready", notReady)];
  const server = scope.use(new InternalServer([metricsRoute(metrics), ...probes, ...routes], logger, configuration));
  const { url } = await server.listen(metricsHost, metricsPort);
  logger.info({ url }, "metrics are served");
  return metrics;
}

/** Declares a gauge without labels; it is left out while its value is undefined. */
export function gauge(
  metrics: Metrics,
  name: string,
  help: string,
  read: () => number | undefined | Promise<number>,
): void {
  metrics.gauge({ name, help }, async () => {
    const value = await read();
    return value === undefined ? [] : [{ value }];
  });
}

type ValuesByLabel = Readonly<Record<string, number>>;

/** Declares a gauge that has a value for each value of one label. */
export function labelledGauge(
  metrics: Metrics,
  name: string,
  help: string,
  label: string,
  read: () => ValuesByLabel | Promise<ValuesByLabel>,
): void {
  metrics.gauge({ name, help, labelNames: [label] }, async () => samplesOf(label, await read()));
}

/** As {@link labelledGauge}, of what only ever grows. */
export function labelledCounter(
  metrics: Metrics,
  name: string,
  help: string,
  label: string,
  read: () => ValuesByLabel,
): void {
  metrics.counter({ name, help, labelNames: [label] }, () => samplesOf(label, read()));
}

function samplesOf(label: string, values: ValuesByLabel) {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

// The names of metrics are promised in `deploy/METRICS.md`.

/** Declares the version of the schema that a process knows. */
export function describeSchemaVersion(metrics: Metrics, read: () => number): void {
  gauge(metrics, "shoal_schema_version", "Version of the schema that this process knows.", read);
}

/** Declares how many storage nodes there are, as this process knows; `read` is undefined until it does. */
export function describeDirectory(metrics: Metrics, read: () => NodeDirectory | undefined): void {
  const registered = "Storage nodes that have registered once.";
  gauge(metrics, "shoal_storage_nodes_registered", registered, () => read()?.nodes.length);
  const expected = "Storage nodes that must have registered before classes can be made.";
  gauge(metrics, "shoal_storage_nodes_expected", expected, () => read()?.expectedStorageNodes);
}

/** Declares whether something that the process depends on answers it; `fault` says why not, "" that it does. */
export function describeReachability(metrics: Metrics, name: string, help: string, fault: () => string): void {
  gauge(metrics, name, help, () => (fault() === "" ? 1 : 0));
}

/** Declares the metrics of a storage node: sums over its shards, as classes are named by strangers. */
export function describeStorageMetrics(metrics: Metrics, node: ShardService & Pick<StorageNode, "vectorCounts">): void {
  const forever = { deadline: Number.POSITIVE_INFINITY };
  const statuses = () => node.shardStatuses(forever);
  const recalls = () => node.shardRecalls(forever);
  labelledGauge(metrics, "shoal_shards", "Shards of this node, by status.", "status", async () => {
    const counts = { ready: 0, readOnly: 0, failed: 0 };
    for (const { status } of await statuses()) counts[status]++;
    return counts;
  });
  labelledGauge(
    metrics,
    "shoal_shards_by_recall",
    "Shards of this node whose vector index has measured its searches, by whether they find their target.",
    "state",
    async () => {
      const all = await recalls();
      const below = all.filter(({ recall: { recall, target } }) => recall < target).length;
      return { reached: all.length - below, below };
    },
  );
  const least = "The least recall that a vector index of this node has measured; 1 without any.";
  gauge(metrics, "shoal_recall_min", least, async () =>
    Math.min(1, ...(await recalls()).map(({ recall: { recall } }) => recall)),
  );
  labelledGauge(
    metrics,
    "shoal_vectors",
    "Vectors in the indexes of this node, replaced and deleted ones included until an index is built anew, by where their float32 values are.",
    "place",
    () => {
      const { all, resident } = node.vectorCounts();
      return { memory: resident, file: all - resident };
    },
  );
  gauge(metrics, "shoal_objects", "Objects stored on this node.", async () =>
    (await statuses()).reduce((sum, { objectCount }) => sum + objectCount, 0),
  );
}
