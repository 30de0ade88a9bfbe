import { DEFAULT_SCHEMA_LIMITS, PROPERTIES_PER_CLASS_CAP } from "@shoal/model";
import { setting } from "../setting.js";
import { oneOf, truth, wholeNumber } from "../setting-parsers.js";

/** What the schema may become, and what imported data makes of it. */
export const SCHEMA_SETTINGS = {
  autoSchemaEnabled: setting(
    "AUTOSCHEMA_ENABLED",
    "auto_schema.enabled",
    true,
    "Whether objects of unseen classes, and unseen properties, extend the schema.",
    truth,
  ),
  autoSchemaDefaultString: setting(
    "AUTOSCHEMA_DEFAULT_STRING",
    "auto_schema.defaultString",
    "text",
    "Data type of unseen properties that hold a text.",
    oneOf("text", "string"),
  ),
  autoSchemaDefaultNumber: setting(
    "AUTOSCHEMA_DEFAULT_NUMBER",
    "auto_schema.defaultNumber",
    "number",
    "Data type of unseen properties that hold a number.",
    oneOf("number", "int"),
  ),
  autoSchemaDefaultDate: setting(
    "AUTOSCHEMA_DEFAULT_DATE",
    "auto_schema.defaultDate",
    "date",
    "Data type of unseen properties that hold a date (RFC 3339); in a list it is always date[].",
    oneOf("date", "string", "text"),
  ),
  schemaClassesMax: setting(
    "SCHEMA_CLASSES_MAX",
    "schema.classes_max",
    DEFAULT_SCHEMA_LIMITS.classesMax,
    "Classes of the schema; each has files and memory of its own.",
    wholeNumber(1, 100_000),
  ),
  schemaShardsMax: setting(
    "SCHEMA_SHARDS_MAX",
    "schema.shards_max",
    2_000,
    "Shards of all classes; each takes up to 10 open files and 0.2 to 1 MB of memory. Fewer where `ulimit -n` is low.",
    wholeNumber(1, 1_000_000),
  ),
  schemaClassPropertiesMax: setting(
    "SCHEMA_CLASS_PROPERTIES_MAX",
    "schema.class_properties_max",
    DEFAULT_SCHEMA_LIMITS.propertiesPerClassMax,
    "Properties of one class.",
    wholeNumber(1, PROPERTIES_PER_CLASS_CAP),
  ),
} as const;
