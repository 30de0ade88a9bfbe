import type { BatchOutcome, IngestService } from "@shoal/ingest";
import { ShoalError } from "@shoal/model";
import type { Clock } from "@shoal/service-runtime";
import type { HttpRequest } from "../http/http-request.js";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { writeInTurns } from "../json/write-in-turns.js";
import { readBatchBody } from "./object-body.js";
import type { ObjectWriter } from "./object-json.js";

/**
 * `POST /v1/batch/objects` (reference-rest 6.1): 200 with one result an item, in order. Past the time-out the answer is
 * 504; what was acknowledged by then stays, the rest may or may not follow.
 */
export function batchRoute(ingest: IngestService, writer: ObjectWriter, clock: Clock, timeoutSeconds: number): Route {
  async function importObjects(request: HttpRequest): Promise<HttpResponse> {
    const inputs = readBatchBody(request.body);
    const outcomes = await inTime(ingest.importObjects(inputs, request.context), timeoutSeconds);
    const nowMs = clock.now();
    function* results() {
      for (const [at, outcome] of outcomes.entries()) {
        yield (at === 0 ? "[" : ",") + writer.batched(outcome, inputs[at], nowMs);
      }
      yield outcomes.length === 0 ? "[]\n" : "]\n";
    }
    return { status: 200, chunks: await writeInTurns(results(), "utf8") };
  }
  return { method: "POST", path: "/v1/batch/objects", body: "json", timeout: "batch", handle: importObjects };
}

async function inTime(outcomes: Promise<readonly BatchOutcome[]>, seconds: number): Promise<readonly BatchOutcome[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ShoalError("deadlineExceeded", `the batch took longer than ${seconds} s (BATCH_TIMEOUT_SECONDS)`));
    }, seconds * 1000);
  });
  try {
    return await Promise.race([outcomes, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
