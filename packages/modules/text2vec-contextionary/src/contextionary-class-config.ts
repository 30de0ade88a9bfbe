import { type ClassDefinition, type PropertyDefinition, ShoalError } from "@shoal/model";
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
import type { Contextionary } from "./contextionary.js";
import { MODULE_NAME } from "./module-name.js";

const PREFIX = `module '${MODULE_NAME}': `;

/** What names of classes and properties must be, to say something to the contextionary (reference-graphql 8.2). */
export function contextionaryClassConfig(contextionary: Contextionary, newContext: () => RequestContext): ClassConfig {
  return {
    classDefaults: TEXT_CLASS_DEFAULTS,
    propertyDefaults: TEXT_PROPERTY_DEFAULTS,
    async check(definition) {
      const context = newContext();
      await checkClass(contextionary, definition, context);
      for (const property of definition.properties ?? []) {
        if (isSkipped(property, MODULE_NAME) || !vectorizesPropertyName(property, MODULE_NAME)) continue;
        await checkProperty(contextionary, definition.class, property, context);
      }
    },
  };
}

async function checkClass(contextionary: Contextionary, definition: ClassDefinition, context: RequestContext) {
  const { class: className, properties } = definition;
  if (vectorizesClassName(definition, MODULE_NAME)) {
    const fault = await faultOfName(contextionary, className, "class name", context);
    if (fault !== undefined) throw new ShoalError("invalid", `${PREFIX}invalid class name: ${fault}`);
  } else if (!(properties ?? []).some((property) => isTextProperty(property) && !isSkipped(property, MODULE_NAME))) {
    throw new ShoalError(
      "invalid",
      `${PREFIX}invalid combination of properties: invalid properties: didn't find a single property which is of type ` +
        "string or text and is not excluded from indexing. In addition the class name is excluded from vectorization as well, " +
        "meaning that it cannot be used to determine the vector position. To fix this, set 'vectorizeClassName' to true if the " +
        "class name is contextionary-valid. Alternatively add at least contextionary-valid text/string property which is not " +
        "excluded from indexing",
    );
  }
}

async function checkProperty(
  contextionary: Contextionary,
  className: string,
  { name }: PropertyDefinition,
  context: RequestContext,
): Promise<void> {
  const fault = await faultOfName(contextionary, name, "property", context);
  if (fault === undefined) return;
  throw new ShoalError("invalid", `${PREFIX}class "${className}": invalid property name: ${fault}`);
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
