import { at, type HttpClient, type Row } from "../../http-client.js";
import type { Question } from "./question.js";
import { RefusedQuestion } from "./refused-question.js";
import { Undecided, type World } from "./world.js";

/** A question that was answered wrongly. */
export interface Finding {
  readonly question: Question;
  readonly fault: string;
  readonly answer: string;
}

/** Undefined when the answer is right; `undecided` when a rounding decides. */
export async function ask(
  http: HttpClient,
  world: World,
  question: Question,
): Promise<Finding | undefined | "undecided"> {
  const { status, json, text } = await http.post("/v1/graphql", question.body);
  try {
    const errors = at(json, "errors");
    const failed = Array.isArray(errors) && !(question instanceof RefusedQuestion);
    const fault =
      status !== 200 || json === undefined
        ? `the status is ${status}`
        : failed
          ? `errors: ${errors.map((one) => at(one, "message")).join("; ")}`
          : question.fault(world, json);
    return fault === undefined ? undefined : { question, fault, answer: text };
  } catch (error) {
    if (error instanceof Undecided) return "undecided";
    throw error;
  }
}

const QUESTIONS_MAX = 600;

/** The smallest question found that is answered wrongly, too. */
export async function smallest(http: HttpClient, world: World, found: Finding): Promise<Finding> {
  let least = found;
  let left = QUESTIONS_MAX;
  for (let isSmaller = true; isSmaller && left > 0; ) {
    isSmaller = false;
    for (const question of least.question.smaller()) {
      if (left-- <= 0) break;
      const again = await ask(http, world, question);
      if (again === undefined || again === "undecided") continue;
      least = again;
      isSmaller = true;
      break;
    }
  }
  return least;
}

const CHARS_MAX = 4_000;
const OBJECTS_MAX = 3;

/** For people: the query, both answers, and the objects that only one of them knows. */
export function describeFinding(world: World, { question, fault, answer }: Finding): string {
  const { query, variables } = question.body;
  const expected = JSON.stringify(question.expected(world));
  const differing = [...world.objects.values()].filter(({ id }) => answer.includes(id) !== expected.includes(id));
  return [
    `  ${fault.slice(0, CHARS_MAX)}`,
    `  query: ${query}`,
    ...(variables === undefined ? [] : [`  variables: ${JSON.stringify(variables)}`]),
    `  answered: ${answer.trim().slice(0, CHARS_MAX)}`,
    `  expected: ${expected.slice(0, CHARS_MAX)}`,
    ...differing.slice(0, OBJECTS_MAX).map((object) => `  in one of them only: ${shown(object)}`),
  ].join("\n");
}

function shown(object: { readonly properties: ReadonlyMap<string, unknown> }): string {
  return JSON.stringify({ ...object, properties: Object.fromEntries(object.properties) });
}

export function describeSchema(world: World): string {
  const classes = world.classes.map((one): Row => {
    const properties = one.properties.map(({ name, dataType, targets, isIndexed }) => {
      const kind = targets.length > 0 ? targets.join("|") : dataType;
      return `${name}: ${kind}${isIndexed ? "" : " (not indexed)"}`;
    });
    return { class: one.name, shards: one.shards, dimensions: one.dimensions, skip: one.skipsVectors, properties };
  });
  return classes.map((one) => `  ${JSON.stringify(one)}`).join("\n");
}
