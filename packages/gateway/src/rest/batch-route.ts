import type { BatchOutcome, IngestService } from "@shoal/ingest";
import type { RequestWitness } from "@shoal/runtime";
import type { Clock } from "@shoal/service-runtime";
import type { HttpRequest } from "../http/http-request.js";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { writeInTurns } from "../json/write-in-turns.js";
import { readBatchBody } from "./batch-body.js";
import type { ObjectWriter } from "./object-json.js";

export interface BatchSettings {
  /** Items of a batch. */
  readonly batchObjectsMax: number;
  /** Told the outcomes of each batch. */
  readonly onBatch?: (outcomes: readonly BatchOutcome[]) => void;
}

/**
 * `POST /v1/batch/objects` (reference-rest 6.1): 200 with one result an item, in order. Past the time-out the answer is
 * 504; what was acknowledged by then stays, the rest may or may not follow.
 */
export function batchRoute(
  ingest: IngestService,
  writer: ObjectWriter,
  clock: Clock,
  { batchObjectsMax, onBatch }: BatchSettings,
): Route {
  async function importObjects(request: HttpRequest): Promise<HttpResponse> {
    const inputs = await readBatchBody(request.body, batchObjectsMax, request.context, request.warnings);
    const outcomes = await ingest.importObjects(inputs, request.context);
    onBatch?.(outcomes);
    if (request.context.witness !== undefined) tellBatch(outcomes, request.context.witness);
    const nowMs = clock.now();
    function* results() {
      for (const [at, outcome] of outcomes.entries()) {
        yield at === 0 ? "[" : ",";
        yield* writer.batched(outcome, inputs[at], nowMs);
      }
      yield outcomes.length === 0 ? "[]\n" : "]\n";
    }
    return {
      status: 200,
      chunks: await writeInTurns(results(), "utf8", request.context.share),
    };
  }
  return {
    method: "POST",
    path: "/v1/batch/objects",
    body: "json",
    access: { verb: "create", resource: "batch/objects", action: "create_data" },
    audited: { action: "import_objects", recorded: "count" },
    timeout: "batch",
    handle: importObjects,
  };
}

/** By class, as each may be another one. */
function tellBatch(outcomes: readonly BatchOutcome[], witness: RequestWitness): void {
  const classes = new Map<string | undefined, { accepted: number; refused: number }>();
  for (const outcome of outcomes) {
    const isWritten = "written" in outcome;
    const className = isWritten ? outcome.written.object.className : outcome.input.className;
    let counts = classes.get(className);
    if (counts === undefined) {
      counts = { accepted: 0, refused: 0 };
      classes.set(className, counts);
    }
    counts[isWritten ? "accepted" : "refused"]++;
  }
  for (const [className, { accepted, refused }] of classes) witness.wrote(className, accepted, refused);
}
