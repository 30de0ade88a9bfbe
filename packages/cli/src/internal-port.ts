import type { ShardService } from "@shoal/rpc";
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
  metrics.gauge({ name: "shoal_build_info", help: "1; the version is in the label.", labelNames: ["version"] }, () => [
    { labels: { version: shoalVersion }, value: 1 },
  ]);
  const probes = [probeRoute("/live", () => ""), probeRoute("/ready", notReady)];
  const server = scope.use(new InternalServer([metricsRoute(metrics), ...probes, ...routes], logger, configuration));
  const { url } = await server.listen(metricsHost, metricsPort);
  logger.info({ url }, "metrics are served");
  return metrics;
}

const STATUSES = ["ready", "readOnly", "failed"] as const;

/** Declares the metrics of a storage node: sums over its shards, as classes are named by strangers. */
export function describeStorageMetrics(metrics: Metrics, node: ShardService & Pick<StorageNode, "vectorCounts">): void {
  const forever = { deadline: Number.POSITIVE_INFINITY };
  const statuses = () => node.shardStatuses(forever);
  const recalls = () => node.shardRecalls(forever);
  metrics.gauge({ name: "shoal_shards", help: "Shards of this node, by status.", labelNames: ["status"] }, async () => {
    const all = await statuses();
    return STATUSES.map((status) => ({
      labels: { status },
      value: all.filter((shard) => shard.status === status).length,
    }));
  });
  metrics.gauge(
    {
      name: "shoal_shards_by_recall",
      help: "Shards of this node whose vector index has measured its searches, by whether they find their target.",
      labelNames: ["state"],
    },
    async () => {
      const all = await recalls();
      const below = all.filter(({ recall: { recall, target } }) => recall < target).length;
      return [
        { labels: { state: "reached" }, value: all.length - below },
        { labels: { state: "below" }, value: below },
      ];
    },
  );
  metrics.gauge(
    {
      name: "shoal_recall_min",
      help: "The least recall that a vector index of this node has measured; 1 without any.",
    },
    async () => {
      const all = await recalls();
      return [{ value: Math.min(1, ...all.map(({ recall: { recall } }) => recall)) }];
    },
  );
  metrics.gauge(
    {
      name: "shoal_vectors",
      help: "Vectors in the indexes of this node, replaced and deleted ones included until an index is built anew, by where their float32 values are.",
      labelNames: ["place"],
    },
    () => {
      const { all, resident } = node.vectorCounts();
      return [
        { labels: { place: "memory" }, value: resident },
        { labels: { place: "file" }, value: all - resident },
      ];
    },
  );
  metrics.gauge({ name: "shoal_objects", help: "Objects stored on this node." }, async () => {
    const all = await statuses();
    return [{ value: all.reduce((sum, { objectCount }) => sum + objectCount, 0) }];
  });
}
