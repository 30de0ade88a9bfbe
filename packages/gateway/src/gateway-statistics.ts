import type { Metrics } from "@shoal/service-runtime";
import { GraphQlStatistics } from "./graphql/plan/plan-execution.js";
import type { RowGate } from "./row-gate.js";

/** Counts of a gateway beyond those of its HTTP server. Plain numbers, read when somebody scrapes. */
export class GatewayStatistics {
  readonly graphQl = new GraphQlStatistics();
  batchItemsWritten = 0;
  batchItemsFailed = 0;

  /** A batch has been answered; one outcome an item. */
  readonly countBatch = (outcomes: readonly ({ readonly written: unknown } | { readonly error: unknown })[]): void => {
    let written = 0;
    for (const outcome of outcomes) if ("written" in outcome) written++;
    this.batchItemsWritten += written;
    this.batchItemsFailed += outcomes.length - written;
  };
}

/** Declares the metrics of a gateway; their names are promised in `deploy/METRICS.md`. */
export function describeGatewayMetrics(metrics: Metrics, statistics: GatewayStatistics, rowGate: RowGate): void {
  const { graphQl } = statistics;
  metrics.counter(
    {
      name: "shoal_graphql_queries_total",
      help: "GraphQL queries, by the way they took: prepared, or plain through Apollo Server.",
      labelNames: ["kind"],
    },
    () => [
      { labels: { kind: "prepared" }, value: graphQl.prepared },
      { labels: { kind: "plain" }, value: graphQl.plain },
    ],
  );
  metrics.counter({ name: "shoal_graphql_errors_total", help: "Errors in the answers of GraphQL queries." }, () => [
    { value: graphQl.errors },
  ]);
  metrics.gauge({ name: "shoal_rows_in_flight", help: "Rows that reads of many rows are at." }, () => [
    { value: rowGate.rows },
  ]);
  metrics.gauge({ name: "shoal_reads_waiting", help: "Reads of many rows that wait for their turn." }, () => [
    { value: rowGate.waiting },
  ]);
  metrics.counter(
    { name: "shoal_batch_items_total", help: "Items of batches, by outcome.", labelNames: ["outcome"] },
    () => [
      { labels: { outcome: "written" }, value: statistics.batchItemsWritten },
      { labels: { outcome: "failed" }, value: statistics.batchItemsFailed },
    ],
  );
}
