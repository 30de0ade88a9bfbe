export { CLASSIFICATION_BODY, readClassificationBody } from "./classification-body.js";
export type { ClassificationRecord } from "./classification-record.js";
export { ClassificationRunner } from "./classification-runner.js";
export { type ClassificationService, Classifications } from "./classification-service.js";
export { maySeeClassification, requireClassificationRights } from "./required-rights.js";
