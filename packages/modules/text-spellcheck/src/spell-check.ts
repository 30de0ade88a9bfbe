import type { AdditionalProperty } from "@shoal/module-api";
import { correctText } from "./correct-text.js";
import type { Speller } from "./speller.js";

/** How the texts that were searched for should be spelt; the same for each row (reference-graphql 8.6). */
export function spellCheck(speller: Speller): AdditionalProperty {
  return {
    name: "spellCheck",
    output: {
      type: {
        typeSuffix: "SpellCheck",
        fields: {
          originalText: { type: "String" },
          didYouMean: { type: "String" },
          location: { type: "String" },
          numberOfCorrections: { type: "Int" },
          changes: {
            type: {
              typeSuffix: "SpellCheckChanges",
              fields: { original: { type: "String" }, corrected: { type: "String" } },
            },
            list: true,
          },
        },
      },
      list: true,
    },
    offeredIn: { list: true, search: true },
    reads: { properties: false, vector: false, extras: false },
    async values(rows, _given, { argument }, context) {
      const texts = argument?.texts ?? [];
      if (rows.length === 0 || texts.length === 0) return rows.map(() => []);
      const changes = await speller.changes(
        texts.map(({ text }) => text),
        context,
      );
      const checks = texts.map(({ location, text: originalText }) => {
        const { text: didYouMean, applied } = correctText(originalText, changes);
        return {
          originalText,
          didYouMean,
          location,
          numberOfCorrections: applied.length,
          changes: applied.map(({ original, correction }) => ({ original, corrected: correction })),
        };
      });
      return rows.map(() => checks);
    },
  };
}
