import type { ClassDefinition, Properties } from "@shoal/model";
import { camelCaseWords } from "./camel-case.js";
import { isSkipped, isTextProperty, vectorizesClassName, vectorizesPropertyName } from "./text-config.js";

/** How the texts of the objects of a class are put together; made once a class. */
export class ObjectTexts {
  readonly #className: string;
  readonly #withClassName: boolean;
  /** In ascending order of their names. */
  readonly #properties: readonly { readonly name: string; readonly words: string | undefined }[];

  constructor(definition: ClassDefinition, module: string) {
    this.#className = camelCaseWords(definition.class);
    this.#withClassName = vectorizesClassName(definition, module);
    this.#properties = (definition.properties ?? [])
      .filter((property) => isTextProperty(property) && !isSkipped(property, module))
      .map((property) => ({
        name: property.name,
        words: vectorizesPropertyName(property, module) ? camelCaseWords(property.name) : undefined,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The text of an object (reference-graphql 8.2): the class's name, then the values of its texts in lower case, each behind
   * the name of its property where that is wanted. The class's name alone when there is nothing else.
   */
  textOf(properties: Properties | undefined): string {
    const parts: string[] = this.#withClassName ? [this.#className] : [];
    for (const { name, words } of this.#properties) {
      const value = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
      for (const text of Array.isArray(value) ? value : [value]) {
        if (typeof text !== "string") continue;
        parts.push(words === undefined ? text.toLowerCase() : `${words} ${text.toLowerCase()}`);
      }
    }
    return parts.length === 0 ? this.#className : parts.join(" ");
  }
}
