export type { AdditionalOffer, AdditionalProperty, AdditionalRow, AdditionalSearch } from "./additional-property.js";
export type {
  ClassifiedReference,
  Classifier,
  ClassifierItem,
  ClassifierRun,
  ClassifierTarget,
  PreparedClassifier,
} from "./classifier.js";
export { EnabledModules, NO_ENABLED_MODULES } from "./enabled-modules.js";
export { featureProjection, type Project, type ProjectionSettings } from "./feature-projection.js";
export { type BackEnd, type ClassConfig, type Module, servedBy } from "./module.js";
export {
  chooseModules,
  createModules,
  type ExtensionStore,
  type ModuleRegistration,
  type ModuleResources,
  type ModuleSettings,
  type ModuleTls,
} from "./module-registration.js";
export type {
  InternalModuleRoute,
  ModuleRequest,
  ModuleResponse,
  ModuleRoute,
} from "./module-route.js";
export { settingOf } from "./module-settings.js";
export type { SearchArgument, SearchWorld } from "./search-argument.js";
export type { InputField, InputFields, OutputField } from "./shapes.js";
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
export type { ObjectContent, ObjectVector, Vectorizer } from "./vectorizer.js";
