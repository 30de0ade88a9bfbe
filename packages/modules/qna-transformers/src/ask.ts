import { type JsonObject, ShoalError, withPrefix } from "@shoal/model";
import type { SearchArgument } from "@shoal/module-api";

/** The argument `ask`: the rows whose texts are near to a question (reference-graphql 8.6). */
export const ASK: SearchArgument = {
  name: "ask",
  typePrefix: "QnATransformers",
  offeredTo: "allClasses",
  input: ({ autocorrect }) => ({
    typeSuffix: "AskInpObj",
    fields: {
      question: { type: "String", required: true, description: "The question to be answered." },
      certainty: { type: "Float", description: "The least certainty of rows, and of an answer." },
      properties: { type: "String", list: true, description: "The properties that answers may come from." },
      ...(autocorrect
        ? { autocorrect: { type: "Boolean", description: "Whether the question is corrected first." } as const }
        : {}),
    },
  }),
  texts: (value) => [{ location: "ask.question", text: questionOf(value) }],
  withTexts: (value, [question = questionOf(value)]) => ({ ...value, question }),
  async vector(value, world) {
    const question = questionOf(value);
    if (question === "") throw new ShoalError("invalid", "ask.question is empty: give a question");
    try {
      return await world.vectorOfTexts([question]);
    } catch (thrown) {
      throw withPrefix("ask: ", thrown);
    }
  },
};

export function questionOf({ question }: JsonObject): string {
  return typeof question === "string" ? question : "";
}
