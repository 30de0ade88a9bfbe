export { CLASSIFICATION_BODY, readClassificationBody } from "./classification-body.js";
export type { ClassificationRecord } from "./classification-record.js";
export type { RunParts } from "./classification-run.js";
export { ClassificationRunner, type ClassificationRunnerOptions } from "./classification-runner.js";
export { type ClassificationParts, type ClassificationService, Classifications } from "./classification-service.js";
export { requireClassificationRights } from "./required-rights.js";
export { unavailableHere } from "./unavailable-here.js";
