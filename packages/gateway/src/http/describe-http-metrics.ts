import type { Labels, Metrics, Sample } from "@shoal/service-runtime";
import type { HttpService } from "./http-service.js";
import { DURATION_BOUNDS_MS, type HttpStatistics, type RouteStatistics } from "./http-statistics.js";

/** Declares the metrics of an HTTP server. Their names and labels are promised in `deploy/METRICS.md`. */
export function describeHttpMetrics(metrics: Metrics, service: HttpService, isDraining: () => boolean): void {
  const { statistics } = service;
  const all = (): readonly RouteStatistics[] => [...statistics.routes, statistics.unrouted, statistics.pages];
  metrics.counter(
    {
      name: "shoal_http_requests_total",
      help: "Requests that were answered, by operation and class of status.",
      labelNames: ["route", "method", "status"],
    },
    () => all().flatMap(responsesOf),
  );
  metrics.histogram(
    {
      name: "shoal_http_request_duration_seconds",
      help: "Time from the complete request to its answer being handed to the connection.",
      labelNames: ["route", "method"],
    },
    DURATION_BOUNDS_MS.map((milliseconds) => milliseconds / 1000),
    () =>
      statistics.routes
        .filter((one) => one.durations.some((count) => count > 0))
        .map((one) => ({ labels: labelsOf(one), counts: one.durations, sum: one.durationSumMs / 1000 })),
  );
  metrics.counter(
    {
      name: "shoal_http_refusals_total",
      help: "Answers of 400 and above, by status.",
      labelNames: ["status"],
    },
    () => refusalsOf(statistics),
  );
  metrics.counter(
    {
      name: "shoal_http_load_refusals_total",
      help: "Requests that were refused with 429, by what there was too much of.",
      labelNames: ["reason"],
    },
    () => [...statistics.refusedForLoad].map(([reason, value]) => ({ labels: { reason }, value })),
  );
  metrics.counter(
    {
      name: "shoal_http_cut_bodies_total",
      help: "Request bodies that were not read to their end, because nothing came or because others needed the room.",
      labelNames: ["reason"],
    },
    () => [...statistics.cutBodies].map(([reason, value]) => ({ labels: { reason }, value })),
  );
  describeTotals(metrics, service);
  describeGauges(metrics, service, isDraining);
}

function describeTotals(metrics: Metrics, { statistics, unsent, connections }: HttpService): void {
  const total = (name: string, help: string, read: () => number): void =>
    metrics.counter({ name, help }, () => [{ value: read() }]);
  total("shoal_http_connections_total", "Connections that were accepted.", () => statistics.connections);
  total(
    "shoal_http_request_body_bytes_total",
    "Bytes of request bodies, after decompression.",
    () => statistics.requestBodyBytes,
  );
  total("shoal_http_answer_body_bytes_total", "Bytes of the bodies of answers.", () => statistics.responseBodyBytes);
  total("shoal_slow_requests_total", "Requests that took longer than SLOW_QUERY_MS.", () => statistics.slowRequests);
  total(
    "shoal_http_stalled_connections_total",
    "Connections that were cut because their clients did not take their answers.",
    () => statistics.stalledConnections + unsent.cut,
  );
  total(
    "shoal_http_idle_connections_closed_total",
    "Idle connections that were closed because there were nearly HTTP_CONNECTIONS_MAX.",
    () => connections.closedIdle,
  );
}

function describeGauges(metrics: Metrics, service: HttpService, isDraining: () => boolean): void {
  const { connections, bodies, unsent } = service;
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge({ name, help }, () => [{ value: read() }]);
  gauge(
    "shoal_http_requests_in_flight",
    "Requests whose answers have not been sent completely.",
    () => service.inFlight,
  );
  gauge("shoal_http_connections", "Open client connections.", () => connections.size);
  gauge("shoal_http_held_bodies", "Request bodies that are read or handled.", () => bodies.holders);
  gauge("shoal_http_held_body_bytes", "Bytes of request bodies that are held.", () => bodies.held);
  gauge("shoal_http_unsent_answer_bytes", "Bytes of large answers not taken by their clients.", () => unsent.heldBytes);
  gauge("shoal_draining", "1 from the beginning of the drain.", () => (isDraining() ? 1 : 0));
}

function labelsOf({ path, method }: RouteStatistics): Labels {
  return { route: path, method };
}

function responsesOf(route: RouteStatistics): readonly Sample[] {
  const samples: Sample[] = [];
  for (const [digit, value] of route.responses.entries()) {
    if (value > 0) samples.push({ labels: { ...labelsOf(route), status: `${digit}xx` }, value });
  }
  return samples;
}

function refusalsOf({ refusals }: HttpStatistics): readonly Sample[] {
  const samples: Sample[] = [];
  for (const [status, value] of refusals.entries()) {
    if (value > 0) samples.push({ labels: { status: String(status) }, value });
  }
  return samples;
}
