import { type Setting, setting } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

/** Longest time-out anyone may set: a day. */
const SECONDS_MAX = 86_400;

/** How long things may take. */
export const TIMEOUT_SETTINGS = {
  batchTimeoutSeconds: seconds(
    "BATCH_TIMEOUT_SECONDS",
    "batch.timeout_seconds",
    60,
    "Time a batch may take before it is answered with 504.",
  ),
  requestTimeoutSeconds: seconds(
    "REQUEST_TIMEOUT_SECONDS",
    "request.timeout_seconds",
    60,
    "Time any other request may take.",
  ),
  headersTimeoutSeconds: seconds(
    "HTTP_HEADERS_TIMEOUT_SECONDS",
    "http.headers_timeout_seconds",
    20,
    "Time a client has to send its headers.",
  ),
  bodyTimeoutSeconds: seconds(
    "HTTP_BODY_TIMEOUT_SECONDS",
    "http.body_timeout_seconds",
    300,
    "Time a client has to send a whole request.",
  ),
  bodyStallSeconds: seconds(
    "HTTP_BODY_STALL_SECONDS",
    "http.body_stall_seconds",
    10,
    "Time in which a request body must get on, by a kilobyte for each second; else it is answered with 408.",
  ),
  keepAliveSeconds: seconds(
    "HTTP_KEEP_ALIVE_SECONDS",
    "http.keep_alive_seconds",
    75,
    "Time an idle connection stays open; longer than that of the load balancer in front.",
  ),
  answerStallSeconds: seconds(
    "HTTP_ANSWER_STALL_SECONDS",
    "http.answer_stall_seconds",
    30,
    "Time a client may take nothing of its answer before it is cut off, at most a second later.",
  ),
  slowQueryMs: setting(
    "SLOW_QUERY_MS",
    "slow_query_ms",
    1_000,
    "Requests that took longer are logged, with what they asked for; 0 logs none. In milliseconds.",
    wholeNumber(0, SECONDS_MAX * 1000),
  ),
  drainDelaySeconds: setting(
    "DRAIN_DELAY_SECONDS",
    "drain.delay_seconds",
    0,
    "Time between answering not ready and closing the port, for load balancers to notice.",
    wholeNumber(0, SECONDS_MAX),
  ),
  drainTimeoutSeconds: seconds(
    "DRAIN_TIMEOUT_SECONDS",
    "drain.timeout_seconds",
    15,
    "Time requests in flight have to finish at a stop.",
  ),
} as const;

function seconds(variable: string, key: string, fallback: number, meaning: string): Setting<number> {
  return setting(variable, key, fallback, meaning, wholeNumber(1, SECONDS_MAX));
}
