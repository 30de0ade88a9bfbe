import { ShoalError } from "@shoal/model";
import {
  type ClassConfig,
  isSkipped,
  isTextProperty,
  splitCamelCase,
  TEXT_CLASS_DEFAULTS,
  TEXT_PROPERTY_DEFAULTS,
  vectorizesClassName,
  vectorizesPropertyName,
} from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { type Contextionary, MODULE_NAME } from "./contextionary.js";

/** What names of classes and properties must be, to say something to the contextionary (reference-graphql 8.2). */
export function contextionaryClassConfig(contextionary: Contextionary, newContext: () => RequestContext): ClassConfig {
  return {
    classDefaults: TEXT_CLASS_DEFAULTS,
    propertyDefaults: TEXT_PROPERTY_DEFAULTS,
    async check(definition) {
      const context = newContext();
      const { class: className } = definition;
      const properties = (definition.properties ?? []).filter((property) => !isSkipped(property, MODULE_NAME));
      if (vectorizesClassName(definition, MODULE_NAME)) {
        const fault = await faultOfName(contextionary, className, "class name", context);
        if (fault !== undefined) throw invalid(`invalid class name: ${fault}`);
      } else if (!properties.some(isTextProperty)) {
        throw invalid(
          "invalid combination of properties: invalid properties: didn't find a single property which is of type " +
            "string or text and is not excluded from indexing. In addition the class name is excluded from vectorization as well, " +
            "meaning that it cannot be used to determine the vector position. To fix this, set 'vectorizeClassName' to true if the " +
            "class name is contextionary-valid. Alternatively add at least contextionary-valid text/string property which is not " +
            "excluded from indexing",
        );
      }
      for (const property of properties) {
        if (!vectorizesPropertyName(property, MODULE_NAME)) continue;
        const fault = await faultOfName(contextionary, property.name, "property", context);
        if (fault !== undefined) throw invalid(`class "${className}": invalid property name: ${fault}`);
      }
    },
  };
}

function invalid(text: string): ShoalError {
  return new ShoalError("invalid", `module '${MODULE_NAME}': ${text}`);
}

/** Every word of a name must be known or a stop word, and not all of them stop words. */
async function faultOfName(
  contextionary: Contextionary,
  name: string,
  kind: "class name" | "property",
  context: RequestContext,
): Promise<string | undefined> {
  let stopwords = 0;
  const words = splitCamelCase(name).map((part) => part.toLowerCase());
  for (const word of words) {
    if (await contextionary.isStopword(word, context)) stopwords++;
    else if (!(await contextionary.isWordPresent(word, context))) {
      return `could not find word '${word}' of the ${kind} '${name}' in the contextionary`;
    }
  }
  if (stopwords < words.length) return undefined;
  return (
    `the ${kind} '${name}' consists of only stopwords and is therefore not a contextionary-valid ${kind}, ` +
    "make sure to include at least one word that is no stopword"
  );
}
