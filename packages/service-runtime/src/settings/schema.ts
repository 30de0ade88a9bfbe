import { DEFAULT_SCHEMA_LIMITS, PROPERTIES_PER_CLASS_CAP } from "@shoal/model";
import { setting } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

/** What the schema may become. */
export const SCHEMA_SETTINGS = {
  schemaClassesMax: setting(
    "SCHEMA_CLASSES_MAX",
    "schema.classes_max",
    DEFAULT_SCHEMA_LIMITS.classesMax,
    "Classes of the schema; each has files and memory of its own.",
    wholeNumber(1, 100_000),
  ),
  schemaClassPropertiesMax: setting(
    "SCHEMA_CLASS_PROPERTIES_MAX",
    "schema.class_properties_max",
    DEFAULT_SCHEMA_LIMITS.propertiesPerClassMax,
    "Properties of one class.",
    wholeNumber(1, PROPERTIES_PER_CLASS_CAP),
  ),
} as const;
