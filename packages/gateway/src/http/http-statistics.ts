import type { Route } from "./route.js";

/** Upper bounds of the buckets that durations are counted in, ascending. */
export const DURATION_BOUNDS_MS = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
];

/** Why requests were refused for load. */
export const LOAD_REASONS = [
  "authentication",
  "handler",
  "pipeline",
  "request_bodies",
  "requests_in_flight",
  "unsent_answers",
] as const;

export type LoadReason = (typeof LOAD_REASONS)[number];

/** Why a body was not read on: its client stopped sending, or others needed the room. */
export const BODY_CUTS = ["gives_way", "stalled"] as const;

export type BodyCut = (typeof BODY_CUTS)[number];

/** Counts of one operation. Plain numbers, read when somebody scrapes. */
export class RouteStatistics {
  /** Responses by the first digit of their status. */
  readonly responses = new Float64Array(6);
  /** Requests whose handler ran, by {@link DURATION_BOUNDS_MS}; the last bucket has no bound. */
  readonly durations = new Float64Array(DURATION_BOUNDS_MS.length + 1);
  durationSumMs = 0;

  constructor(
    readonly method: string,
    readonly path: string,
  ) {}

  responded(status: number): void {
    const digit = Math.floor(status / 100);
    this.responses[digit] = (this.responses[digit] ?? 0) + 1;
  }

  took(milliseconds: number): void {
    let bucket = 0;
    while (bucket < DURATION_BOUNDS_MS.length && milliseconds > (DURATION_BOUNDS_MS[bucket] ?? 0)) bucket++;
    this.durations[bucket] = (this.durations[bucket] ?? 0) + 1;
    this.durationSumMs += milliseconds;
  }
}

const STATUS_MAX = 600;

/** Counts of an HTTP server. */
export class HttpStatistics {
  readonly routes: RouteStatistics[] = [];
  /** What no operation answers: unknown paths, preflights, requests that are no HTTP. */
  readonly unrouted = new RouteStatistics("", "unrouted");
  readonly pages = new RouteStatistics("", "pages");
  /** Responses of 400 and above by their status. */
  readonly refusals = new Float64Array(STATUS_MAX);
  readonly refusedForLoad = new Map<LoadReason, number>(LOAD_REASONS.map((reason) => [reason, 0]));
  readonly cutBodies = new Map<BodyCut, number>(BODY_CUTS.map((reason) => [reason, 0]));
  /** Bodies that were read, after decompression. */
  requestBodyBytes = 0;
  responseBodyBytes = 0;
  slowRequests = 0;
  /** Connections that were cut because their clients did not take their responses. */
  stalledConnections = 0;
  connections = 0;

  addRoute({ method, path }: Route): RouteStatistics {
    const statistics = new RouteStatistics(method, path);
    this.routes.push(statistics);
    return statistics;
  }

  responded(route: RouteStatistics, status: number, bodyBytes: number): void {
    route.responded(status);
    this.responseBodyBytes += bodyBytes;
    if (status >= 400 && status < STATUS_MAX) this.refusals[status] = (this.refusals[status] ?? 0) + 1;
  }

  bodyCut(reason: BodyCut): void {
    this.cutBodies.set(reason, (this.cutBodies.get(reason) ?? 0) + 1);
  }

  loadRefused(reason: LoadReason): void {
    this.refusedForLoad.set(reason, (this.refusedForLoad.get(reason) ?? 0) + 1);
  }
}
