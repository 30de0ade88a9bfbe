import { decodeProperties } from "@shoal/model";
import type { AdditionalRow } from "../additional-property.js";

/** The text of a property of a row. */
export interface RowText {
  readonly property: string;
  readonly text: string;
}

const TEXT_TYPES: ReadonlySet<string> = new Set(["string", "text"]);

/**
 * The texts of a row that are not empty: of the properties that are named, in that order, or of all in ascending order.
 * Lists of texts are no texts, nor are dates and blobs.
 */
export function rowTexts({ definition, object }: AdditionalRow, names?: readonly string[]): readonly RowText[] {
  const isText = new Set(
    (definition.properties ?? []).flatMap(({ name, dataType }) => (TEXT_TYPES.has(dataType[0] ?? "") ? name : [])),
  );
  const values = decodeProperties(object);
  return (names ?? [...isText].sort()).flatMap((property) => {
    const text = isText.has(property) && Object.hasOwn(values, property) ? values[property] : undefined;
    return typeof text === "string" && text !== "" ? { property, text } : [];
  });
}
