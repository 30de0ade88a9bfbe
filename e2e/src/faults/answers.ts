import { errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import type { KnownData } from "./known-data.js";

/** One question to the server, and the text of its right answer. */
interface Question {
  readonly name: string;
  readonly ask: () => Promise<{ readonly right: boolean; readonly text: string; readonly error: string | undefined }>;
}

export interface Outcome {
  readonly right: number;
  /** Answers that say that something is damaged. */
  readonly reported: number;
  /** Answers that are neither right nor an error. */
  readonly wrong: readonly string[];
}

/**
 * A set of questions over everything a server holds, with the answers it gave when all was well: each object by id, the
 * lists, the schema, vector searches, filters and aggregations.
 */
export class Answers {
  private constructor(readonly questions: readonly Question[]) {}

  static async of(data: KnownData, queries: readonly (readonly number[])[]): Promise<Answers> {
    const { http, className } = data;
    const rest = ["/v1/schema", "/v1/objects?limit=1000", `/v1/objects?class=${className}&limit=1000&include=vector`];
    const byId = data.objects.map(({ id }) => `/v1/objects/${id}?include=vector`);
    const graphql = [
      `{ Get { ${className}(limit: 1000) { n text _additional { id vector } } } }`,
      ...queries.map(
        (vector) =>
          `{ Get { ${className}(nearVector: {vector: [${vector}]}, limit: 10) { n text _additional { id certainty } } } }`,
      ),
      ...filtered(className, queries[0] ?? []),
    ];
    return new Answers([
      ...(await Promise.all([...rest, ...byId].map((path) => restQuestion(http, path)))),
      ...(await Promise.all(graphql.map((query) => graphqlQuestion(http, query)))),
    ]);
  }

  async check(): Promise<Outcome> {
    let right = 0;
    let reported = 0;
    const wrong: string[] = [];
    const waiting = [...this.questions];
    const worker = async (): Promise<void> => {
      for (let question = waiting.pop(); question !== undefined; question = waiting.pop()) {
        const outcome = await question.ask();
        if (outcome.right) right += 1;
        else if (outcome.error !== undefined) reported += 1;
        else wrong.push(`${question.name.slice(0, 120)}: ${outcome.text.slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    return { right, reported, wrong };
  }
}

function filtered(className: string, vector: readonly number[]): string[] {
  const wheres = [
    '{path: ["n"], operator: LessThan, valueInt: 50}',
    '{path: ["n"], operator: NotEqual, valueInt: 7}',
    '{path: ["text"], operator: Equal, valueText: "text 8"}',
    '{path: ["text"], operator: Like, valueText: "1*"}',
    '{operator: Not, operands: [{path: ["_lastUpdateTimeUnix"], operator: GreaterThan, valueInt: 1}]}',
  ];
  const near = `nearVector: {vector: [${vector}]}, limit: 10`;
  return [
    ...wheres.map((where) => `{ Get { ${className}(where: ${where}, limit: 1000) { n _additional { id } } } }`),
    ...wheres.map((where) => `{ Get { ${className}(where: ${where}, ${near}) { n _additional { id certainty } } } }`),
    ...wheres.map((where) => `{ Aggregate { ${className}(where: ${where}) { meta { count } n { sum maximum } } } }`),
    `{ Aggregate { ${className} { meta { count } n { sum minimum median } text { topOccurrences(limit: 3) { value } } } } }`,
  ];
}

async function restQuestion(http: HttpClient, path: string): Promise<Question> {
  const truth = await http.get(path);
  if (truth.status !== 200) throw new Error(`${path}: ${truth.status} ${truth.text}`);
  return {
    name: path,
    ask: async () => {
      const answer = await http.get(path);
      const error = answer.status >= 500 ? String(errorOf(answer)) : undefined;
      return {
        right: answer.status === 200 && answer.text === truth.text,
        text: `${answer.status} ${answer.text}`,
        error,
      };
    },
  };
}

async function graphqlQuestion(http: HttpClient, query: string): Promise<Question> {
  const truth = await http.graphql(query);
  if (graphqlErrors(truth).length > 0) throw new Error(`${query}: ${truth.text}`);
  return {
    name: query,
    ask: async () => {
      const answer = await http.graphql(query);
      const [error] = graphqlErrors(answer);
      return {
        right: answer.text === truth.text,
        text: answer.text,
        error: error === undefined ? undefined : String(error),
      };
    },
  };
}
