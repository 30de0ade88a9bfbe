import type { InferenceContainer } from "@shoal/inference";
import { type JsonObject, ShoalError } from "@shoal/model";
import { type AdditionalProperty, type RowText, rowTexts } from "@shoal/module-api";
import { ASK, questionOf } from "./ask.js";

/** The answer to the question that was asked, from the texts of the first row (reference-graphql 8.6). */
export function answer(container: InferenceContainer): AdditionalProperty {
  return {
    name: "answer",
    output: {
      type: {
        typeSuffix: "Answer",
        fields: {
          result: { type: "String" },
          property: { type: "String" },
          startPosition: { type: "Int" },
          endPosition: { type: "Int" },
          certainty: { type: "Float" },
          hasAnswer: { type: "Boolean" },
        },
      },
    },
    offeredIn: { list: true, search: true },
    reads: { properties: true, vector: false, extras: false },
    async values(rows, _given, { argument }, context) {
      const asked = argument?.name === ASK.name ? argument.searched : {};
      const question = questionOf(asked);
      if (question === "")
        throw new ShoalError("invalid", "there is no question: it needs the argument ask with a question");
      const [first] = rows;
      if (first === undefined) return [];
      const { properties } = asked;
      const names = Array.isArray(properties) ? properties.filter((name) => typeof name === "string") : [];
      const texts = rowTexts(first, names.length > 0 ? names : undefined);
      const text = texts.map((one) => one.text).join(" ");
      if (text === "") throw new ShoalError("invalid", "the first row has no text to find an answer in");
      const found = await container.post("/answers/", { text, question }, context);
      return rows.map((_, i) => (i === 0 ? shown(found, asked, texts) : null));
    },
  };
}

function shown(found: JsonObject, { certainty: least }: JsonObject, texts: readonly RowText[]): JsonObject {
  const certainty = typeof found.certainty === "number" ? found.certainty : null;
  if (typeof least === "number" && certainty !== null && certainty < least) return { hasAnswer: false };
  const { answer: result } = found;
  if (typeof result !== "string") {
    return { result: null, property: "", startPosition: 0, endPosition: 0, certainty, hasAnswer: false };
  }
  return { result, ...positionOf(result, texts), certainty, hasAnswer: true };
}

/** In bytes of UTF-8. The first property that has it; none when the container put it in other words. */
function positionOf(result: string, texts: readonly RowText[]) {
  const wanted = result.toLowerCase();
  for (const { property, text } of texts) {
    const plain = text.replaceAll("\n", " ").toLowerCase();
    const at = plain.indexOf(wanted);
    if (at === -1) continue;
    const startPosition = Buffer.byteLength(plain.slice(0, at));
    return { property, startPosition, endPosition: startPosition + Buffer.byteLength(wanted) };
  }
  return { property: "", startPosition: 0, endPosition: 0 };
}
