import { setting } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

/** Longest time-out anyone may set: a day. */
const SECONDS_MAX = 86_400;
const SECONDS = wholeNumber(1, SECONDS_MAX);

/** How long things may take. */
export const TIMEOUT_SETTINGS = {
  batchTimeoutSeconds: setting("BATCH_TIMEOUT_SECONDS", "batch.timeout_seconds", SECONDS, {
    fallback: 60,
    meaning: "Time a batch may take before it gets 504.",
  }),
  requestTimeoutSeconds: setting("REQUEST_TIMEOUT_SECONDS", "request.timeout_seconds", SECONDS, {
    fallback: 60,
    meaning: "Time any other request may take.",
  }),
  headersTimeoutSeconds: setting("HTTP_HEADERS_TIMEOUT_SECONDS", "http.headers_timeout_seconds", SECONDS, {
    fallback: 20,
    meaning: "Time a client has to send its headers.",
  }),
  bodyTimeoutSeconds: setting("HTTP_BODY_TIMEOUT_SECONDS", "http.body_timeout_seconds", SECONDS, {
    fallback: 300,
    meaning: "Time a client has to send a whole request.",
  }),
  bodyStallSeconds: setting("HTTP_BODY_STALL_SECONDS", "http.body_stall_seconds", SECONDS, {
    fallback: 10,
    meaning: "Time in which a request body must make progress, by a kilobyte for each second; otherwise it gets 408.",
  }),
  keepAliveSeconds: setting("HTTP_KEEP_ALIVE_SECONDS", "http.keep_alive_seconds", SECONDS, {
    fallback: 75,
    meaning: "Time an idle connection stays open; longer than that of the load balancer in front.",
  }),
  answerStallSeconds: setting("HTTP_ANSWER_STALL_SECONDS", "http.answer_stall_seconds", SECONDS, {
    fallback: 30,
    meaning: "Time a client may read nothing of its response before it is disconnected, at most a second later.",
  }),
  slowQueryMs: setting("SLOW_QUERY_MS", "slow_query_ms", wholeNumber(0, SECONDS_MAX * 1000), {
    fallback: 1_000,
    meaning: "Requests that took longer are logged with their content; 0 logs none. In milliseconds.",
  }),
  drainDelaySeconds: setting("DRAIN_DELAY_SECONDS", "drain.delay_seconds", wholeNumber(0, SECONDS_MAX), {
    fallback: 0,
    meaning: "Time between answering not ready and closing the port, for load balancers to notice.",
  }),
  drainTimeoutSeconds: setting("DRAIN_TIMEOUT_SECONDS", "drain.timeout_seconds", SECONDS, {
    fallback: 15,
    meaning: "Time requests in flight have to finish at a stop.",
  }),
} as const;
