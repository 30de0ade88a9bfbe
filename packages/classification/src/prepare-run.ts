import { UnavailableHere } from "@shoal/model";
import type { PreparedClassifier } from "@shoal/module-api";
import type { Job } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { type ClassificationRequest, KNN, ZEROSHOT } from "./classification-request.js";
import { allOf, ClassificationRun, type PreparedRun, type RunParts } from "./classification-run.js";
import { prepareKnn } from "./knn.js";
import { prepareModuleClassifier } from "./module-classifier.js";
import { prepareZeroshot } from "./zeroshot.js";

/** Everything that a job's items share. Fails with what makes the whole job fail. */
export async function prepareRun(parts: RunParts, job: Job, context: RequestContext): Promise<PreparedRun> {
  await parts.view.refresh(context);
  const { schemaVersion = 0 } = job.request as Partial<ClassificationRequest>;
  if (parts.view.snapshot.version < schemaVersion) {
    throw new UnavailableHere("the schema that the classification was checked with is not known here yet");
  }
  const record = parts.view.classRecord(job.className);
  if (record === undefined || record.classId !== job.classId) {
    // The coordinator ends the job when the class is gone.
    throw new UnavailableHere(`class '${job.className}' is not known here`);
  }
  const run = new ClassificationRun(parts, job, record);
  await run.requireRights(context);
  const source = allOf([...run.labelled(false), await run.filter("sourceWhere", job.className, context)]);
  return { run, source, classifier: await classifierOf(run, context) };
}

function classifierOf(run: ClassificationRun, context: RequestContext): Promise<PreparedClassifier> {
  if (run.request.type === KNN) return prepareKnn(run, context);
  if (run.request.type === ZEROSHOT) return prepareZeroshot(run, context);
  return prepareModuleClassifier(run, context);
}
