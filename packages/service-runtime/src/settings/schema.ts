import { DEFAULT_SCHEMA_LIMITS, PROPERTIES_PER_CLASS_CAP } from "@shoal/model";
import { setting } from "../setting.js";
import { oneOf, truth, wholeNumber } from "../setting-parsers.js";

/** What the schema may become, and what imported data makes of it. */
export const SCHEMA_SETTINGS = {
  autoSchemaEnabled: setting("AUTOSCHEMA_ENABLED", "auto_schema.enabled", truth, {
    fallback: true,
    meaning: "Whether objects of unknown classes, and unknown properties, extend the schema.",
  }),
  autoSchemaDefaultString: setting("AUTOSCHEMA_DEFAULT_STRING", "auto_schema.defaultString", oneOf("text", "string"), {
    fallback: "text",
    meaning: "Data type of unknown properties that hold a text.",
  }),
  autoSchemaDefaultNumber: setting("AUTOSCHEMA_DEFAULT_NUMBER", "auto_schema.defaultNumber", oneOf("number", "int"), {
    fallback: "number",
    meaning: "Data type of unknown properties that hold a number.",
  }),
  autoSchemaDefaultDate: setting(
    "AUTOSCHEMA_DEFAULT_DATE",
    "auto_schema.defaultDate",
    oneOf("date", "string", "text"),
    {
      fallback: "date",
      meaning: "Data type of unknown properties that hold a date (RFC 3339); in a list it is always date[].",
    },
  ),
  schemaClassesMax: setting("SCHEMA_CLASSES_MAX", "schema.classes_max", wholeNumber(1, 100_000), {
    fallback: DEFAULT_SCHEMA_LIMITS.classesMax,
    meaning: "Classes of the schema; each has its own files and memory.",
  }),
  schemaShardsMax: setting("SCHEMA_SHARDS_MAX", "schema.shards_max", wholeNumber(1, 1_000_000), {
    fallback: 2_000,
    meaning:
      "Shards of all classes; each takes up to 10 open files and 0.2 to 1 MB of memory. Fewer where `ulimit -n` is low.",
  }),
  schemaClassPropertiesMax: setting(
    "SCHEMA_CLASS_PROPERTIES_MAX",
    "schema.class_properties_max",
    wholeNumber(1, PROPERTIES_PER_CLASS_CAP),
    {
      fallback: DEFAULT_SCHEMA_LIMITS.propertiesPerClassMax,
      meaning: "Properties of one class.",
    },
  ),
} as const;
