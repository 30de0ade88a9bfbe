import { at } from "../../http-client.js";
import { type Clause, clauseText } from "./clause.js";
import type { Question, QuestionBody } from "./question.js";

/** A filter on a property that is not indexed: an error, and no rows (reference-graphql 5.1). */
export class RefusedQuestion implements Question {
  constructor(
    readonly className: string,
    readonly where: Clause,
  ) {}

  get body(): QuestionBody {
    return { query: `{ Get { ${this.className}(where: ${clauseText(this.where)}) { _additional { id } } } }` };
  }

  expected(): unknown {
    return "an error";
  }

  fault(_: unknown, answer: unknown): string | undefined {
    const errors = at(answer, "errors");
    if (!Array.isArray(errors) || errors.length === 0) return "there is no error";
    return at(answer, "data", "Get", this.className) === null ? undefined : "there are rows beside the error";
  }

  smaller(): readonly Question[] {
    return [];
  }
}
