import { type ClassDefinition, ShoalError } from "@shoal/model";
import { type ClassConfig, settingOf } from "@shoal/module-api";

export const MODULE_NAME = "img2vec-neural";

/** Classes must name the properties that hold images (reference-graphql 8.2). */
export const IMAGE_CLASS_CONFIG: ClassConfig = {
  classDefaults: {},
  propertyDefaults: {},
  otherSettings: ["imageFields"],
  async check(definition) {
    imageFieldsOf(definition);
  },
};

/** Fails with `invalid` when there are none. */
export function imageFieldsOf({ moduleConfig }: ClassDefinition): readonly string[] {
  const fields = settingOf(moduleConfig, MODULE_NAME, "imageFields");
  if (fields === undefined) throw invalid("imageFields not present");
  if (!Array.isArray(fields)) throw invalid("imageFields must be an array");
  if (fields.length === 0) throw invalid("must contain at least one image field name in imageFields");
  return fields.map((field: unknown) => {
    if (typeof field !== "string") throw invalid("imageField must be a string");
    if (field === "") throw invalid("imageField values cannot be empty");
    return field;
  });
}

function invalid(text: string): ShoalError {
  return new ShoalError("invalid", `module '${MODULE_NAME}': ${text}`);
}
