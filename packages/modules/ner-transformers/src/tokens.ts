import { mapConcurrently } from "@shoal/inference";
import { type Json, ShoalError } from "@shoal/model";
import { type AdditionalProperty, rowTexts } from "@shoal/module-api";
import type { Recognizer } from "./recognizer.js";

/** Texts of one request that are worked on at a time. */
const AT_ONCE = 16;

/** The names in texts of rows (reference-graphql 8.6). */
export function tokens(recognizer: Recognizer): AdditionalProperty {
  return {
    name: "tokens",
    output: {
      type: {
        typeSuffix: "Tokens",
        fields: {
          property: { type: "String" },
          entity: { type: "String" },
          certainty: { type: "Float" },
          word: { type: "String" },
          startPosition: { type: "Int" },
          endPosition: { type: "Int" },
        },
      },
      list: true,
    },
    arguments: {
      properties: { type: "String", list: true, description: "The properties whose texts are looked at." },
      certainty: { type: "Float", description: "The least certainty of a token." },
      limit: { type: "Int", description: "The most tokens of a row." },
    },
    offeredIn: { list: true, search: true },
    reads: { properties: true, vector: false, extras: false },
    async values(rows, { properties, certainty, limit }, _search, context) {
      const names = Array.isArray(properties) ? properties.filter((name) => typeof name === "string") : [];
      if (names.length === 0) throw new ShoalError("invalid", "no properties provided");
      const texts = rows.flatMap((one, row) => rowTexts(one, names).map((text) => ({ row, ...text })));
      const found = await mapConcurrently(texts, AT_ONCE, ({ text }) => recognizer.tokens(text, context));
      const least = typeof certainty === "number" ? certainty : 0;
      const values = rows.map((): Json[] => []);
      for (const [i, { row, property }] of texts.entries()) {
        for (const token of found[i] ?? []) if (token.certainty >= least) values[row]?.push({ property, ...token });
      }
      return typeof limit === "number" && limit > 0 ? values.map((row) => row.slice(0, limit)) : values;
    },
  };
}
