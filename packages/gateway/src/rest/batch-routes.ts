import type { BatchOutcome, IngestService, ReferenceOutcome } from "@shoal/ingest";
import { parseLongBeacon } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Clock } from "@shoal/service-runtime";
import type { HttpRequest } from "../http/http-request.js";
import type { HttpResponse } from "../http/http-response.js";
import type { Route } from "../http/route.js";
import { writeInSteps } from "../json/write-in-steps.js";
import { readBatchBody } from "./batch-body.js";
import type { ObjectWriter } from "./object-json.js";
import { readReferenceBatch } from "./reference-body.js";

export interface BatchSettings {
  /** Items of a batch. */
  readonly batchObjectsMax: number;
  /** References of a batch, and of one list. */
  readonly batchReferencesMax: number;
  /** Called with the outcomes of each batch of objects. */
  readonly onBatch?: (outcomes: readonly BatchOutcome[]) => void;
}

/**
 * `POST /v1/batch/objects` and `/v1/batch/references` (reference-rest 6): 200 with one result an item, in order. Past the
 * time-out the response is 504; what was acknowledged by then stays, the rest may or may not follow.
 */
export function batchRoutes(
  ingest: IngestService,
  writer: ObjectWriter,
  clock: Clock,
  { batchObjectsMax, batchReferencesMax, onBatch }: BatchSettings,
): readonly Route[] {
  async function importObjects({ body, context, warnings }: HttpRequest): Promise<HttpResponse> {
    const inputs = await readBatchBody(body, batchObjectsMax, context, warnings);
    const outcomes = await ingest.importObjects(inputs, context);
    onBatch?.(outcomes);
    tell(context, outcomes, classOfObject);
    const nowMs = clock.now();
    return listed(outcomes, (outcome, at) => writer.batched(outcome, inputs[at], nowMs), context);
  }

  async function importReferences({ body, context, warnings }: HttpRequest): Promise<HttpResponse> {
    const inputs = await readReferenceBatch(body, batchReferencesMax, context, warnings);
    const outcomes = await ingest.importReferences(inputs, context);
    tell(context, outcomes, classOfReference);
    return listed(outcomes, (outcome) => [referenceResult(outcome)], context);
  }

  return [
    {
      method: "POST",
      path: "/v1/batch/objects",
      body: "json",
      access: { verb: "create", resource: "batch/objects", action: "create_data" },
      audited: { action: "import_objects", recorded: "count" },
      timeout: "batch",
      handle: importObjects,
    },
    {
      method: "POST",
      path: "/v1/batch/references",
      body: "json",
      access: { verb: "update", resource: "batch/*", action: "update_data" },
      audited: { action: "import_references", recorded: "count" },
      timeout: "batch",
      handle: importReferences,
    },
  ];
}

async function listed<Outcome>(
  outcomes: readonly Outcome[],
  write: (outcome: Outcome, at: number) => Iterable<string | Uint8Array>,
  { share }: RequestContext,
): Promise<HttpResponse> {
  function* results() {
    for (const [at, outcome] of outcomes.entries()) {
      yield at === 0 ? "[" : ",";
      yield* write(outcome, at);
    }
    yield outcomes.length === 0 ? "[]\n" : "]\n";
  }
  return { status: 200, chunks: await writeInSteps(results(), "utf8", share) };
}

function referenceResult(outcome: ReferenceOutcome): string {
  if ("error" in outcome) {
    const { message } = outcome.error;
    return `{"result":{"errors":{"error":[{"message":${JSON.stringify(message)}}]},"status":"FAILED"}}`;
  }
  const { from, to } = outcome.written;
  return `{"from":${JSON.stringify(from)},"to":${JSON.stringify(to)},"result":{"status":"SUCCESS"}}`;
}

function classOfObject(outcome: BatchOutcome): string | undefined {
  return "written" in outcome ? outcome.written.object.className : outcome.input.className;
}

/** The class that refers; of what was refused, that is not known. */
function classOfReference(outcome: ReferenceOutcome): string | undefined {
  return "written" in outcome ? parseLongBeacon(outcome.written.from).className : undefined;
}

/** Reports to the observer by class, as each item may be of another one. */
function tell<Outcome extends BatchOutcome | ReferenceOutcome>(
  { observer }: RequestContext,
  outcomes: readonly Outcome[],
  classOf: (outcome: Outcome) => string | undefined,
): void {
  if (observer === undefined) return;
  const classes = new Map<string | undefined, { accepted: number; refused: number }>();
  for (const outcome of outcomes) {
    const className = classOf(outcome);
    let counts = classes.get(className);
    if (counts === undefined) {
      counts = { accepted: 0, refused: 0 };
      classes.set(className, counts);
    }
    counts["written" in outcome ? "accepted" : "refused"]++;
  }
  for (const [className, { accepted, refused }] of classes) observer.wrote(className, accepted, refused);
}
