import type { IngestService, ReferenceOutcome } from "@shoal/ingest";
import { parseLongBeacon } from "@shoal/model";
import type { RequestWitness } from "@shoal/runtime";
import type { HttpRequest } from "../http/http-request.js";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { writeInTurns } from "../json/write-in-turns.js";
import { readReferenceBatch } from "./reference-body.js";

/**
 * `POST /v1/batch/references` (reference-rest 6.2): 200 with one result a reference, in order. Past the time-out the
 * answer is 504; what was acknowledged by then stays.
 */
export function batchReferencesRoute(ingest: IngestService, referencesMax: number): Route {
  async function importReferences(request: HttpRequest): Promise<HttpResponse> {
    const inputs = await readReferenceBatch(request.body, referencesMax, request.context, request.warnings);
    const outcomes = await ingest.importReferences(inputs, request.context);
    if (request.context.witness !== undefined) tellBatch(outcomes, request.context.witness);
    function* results() {
      for (const [at, outcome] of outcomes.entries()) yield (at === 0 ? "[" : ",") + result(outcome);
      yield outcomes.length === 0 ? "[]\n" : "]\n";
    }
    return { status: 200, chunks: await writeInTurns(results(), "utf8", request.context.share) };
  }
  return {
    method: "POST",
    path: "/v1/batch/references",
    body: "json",
    access: { verb: "update", resource: "batch/*", action: "update_data" },
    audited: { action: "import_references", recorded: "count" },
    timeout: "batch",
    handle: importReferences,
  };
}

function result(outcome: ReferenceOutcome): string {
  if ("error" in outcome) {
    const { message } = outcome.error;
    return `{"result":{"errors":{"error":[{"message":${JSON.stringify(message)}}]},"status":"FAILED"}}`;
  }
  const { from, to } = outcome.written;
  return `{"from":${JSON.stringify(from)},"to":${JSON.stringify(to)},"result":{"status":"SUCCESS"}}`;
}

/** By the class that refers; of what was refused, that is not known. */
function tellBatch(outcomes: readonly ReferenceOutcome[], witness: RequestWitness): void {
  const classes = new Map<string, number>();
  let refused = 0;
  for (const outcome of outcomes) {
    if ("error" in outcome) refused++;
    else {
      const { className } = parseLongBeacon(outcome.written.from);
      classes.set(className, (classes.get(className) ?? 0) + 1);
    }
  }
  for (const [className, accepted] of classes) witness.wrote(className, accepted, 0);
  if (refused > 0) witness.wrote(undefined, 0, refused);
}
