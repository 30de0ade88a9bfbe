export type { AdditionalOffer, AdditionalProperty, AdditionalRow, AdditionalSearch } from "./additional-property.js";
export type { ClassConfig } from "./class-config.js";
export type {
  ClassifiedReference,
  Classifier,
  ClassifierItem,
  ClassifierRun,
  ClassifierTarget,
  PreparedClassifier,
} from "./classifier.js";
export { EnabledModules, NO_ENABLED_MODULES } from "./enabled-modules.js";
export type { ExtensionStore } from "./extension-store.js";
export { featureProjection, type Project, type ProjectionSettings } from "./feature-projection.js";
export type { Module } from "./module.js";
export {
  chooseModules,
  createModules,
  type ModuleRegistration,
  type ModuleResources,
  type ModuleSettings,
  type ModuleTls,
} from "./module-registration.js";
export type {
  InternalModuleRoute,
  ModuleOperation,
  ModuleRequest,
  ModuleResponse,
  ModuleRoute,
} from "./module-route.js";
export type { LocatedText, SearchArgument, SearchWorld } from "./search-argument.js";
export type { InputField, InputFields, InputShape, OutputField, OutputShape, Scalar } from "./shapes.js";
export { camelCaseWords, splitCamelCase } from "./text/camel-case.js";
export { meanOf, NEAR_TEXT } from "./text/near-text.js";
export { ObjectTexts } from "./text/object-text.js";
export { type RowText, rowTexts } from "./text/row-texts.js";
export {
  isSkipped,
  isTextProperty,
  TEXT_CLASS_DEFAULTS,
  TEXT_PROPERTY_DEFAULTS,
  vectorizesClassName,
  vectorizesPropertyName,
} from "./text/text-config.js";
export type { TextTransformer } from "./text-transformer.js";
export type { ObjectContent, ObjectVector, Vectorizer } from "./vectorizer.js";
