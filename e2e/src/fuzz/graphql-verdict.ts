import { at } from "../http-client.js";
import type { RawOutcome } from "./raw-connection.js";
import { isErrorBody, parsed } from "./verdict.js";

const REFUSALS = new Set([400, 413, 422, 429, 503, 504]);

/** Words that only a fault of ours puts into a message. */
const LEAK =
  /TypeError|RangeError|SyntaxError:|ReferenceError|is not a function|is not iterable|Cannot read propert|Maximum call stack|Invalid array length|\[object |node:internal|\.js:\d+|Internal server error|placeholder/;

/** What is wrong with an answer of GraphQL, or of its batch; undefined when nothing is. */
export function graphqlComplaint(isBatch: boolean, outcome: RawOutcome): string | undefined {
  if (outcome === "silent") return "no answer";
  if (outcome === "closed") return "the connection ended without an answer";
  const text = outcome.body.toString("utf8");
  if (outcome.status !== 200) {
    if (!REFUSALS.has(outcome.status)) return `${outcome.status} ${text.slice(0, 500)}`;
    if (LEAK.test(text)) return `a message tells of the inside: ${text.slice(0, 500)}`;
    return isErrorBody(text) ? undefined : `${outcome.status} without the error shape: ${text.slice(0, 300)}`;
  }
  const answer = parsed(text);
  if (!isBatch) return complaintOfOne(answer, text);
  if (!Array.isArray(answer)) return `a batch is answered without a list: ${text.slice(0, 300)}`;
  return answer.map((one) => complaintOfOne(one, JSON.stringify(one))).find((one) => one !== undefined);
}

function complaintOfOne(answer: unknown, text: string): string | undefined {
  const shown = text.slice(0, 500);
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return `no answer of GraphQL: ${shown}`;
  const foreign = Object.keys(answer).find((key) => key !== "data" && key !== "errors");
  if (foreign !== undefined) return `the answer has a member ${foreign}: ${shown}`;
  const data = at(answer, "data");
  const errors = at(answer, "errors") ?? null;
  if (errors === null)
    return typeof data === "object" && data !== null ? undefined : `neither data nor errors: ${shown}`;
  if (!Array.isArray(errors) || errors.length === 0) return `errors are no list: ${shown}`;
  return errors.map((error) => complaintOfError(error)).find((one) => one !== undefined);
}

/** `message`, `locations` and `path`, and nothing else (reference-graphql 1.1). */
function complaintOfError(error: unknown): string | undefined {
  const shown = JSON.stringify(error)?.slice(0, 700);
  if (typeof error !== "object" || error === null) return `an error is ${shown}`;
  if (Object.keys(error).sort().join() !== "locations,message,path") return `an error has other members: ${shown}`;
  const message = at(error, "message");
  if (typeof message !== "string" || message === "") return `an error without a message: ${shown}`;
  if (LEAK.test(message)) return `a message tells of the inside: ${shown}`;
  const isListOrNull = (value: unknown): boolean => value === null || Array.isArray(value);
  return isListOrNull(at(error, "locations")) && isListOrNull(at(error, "path"))
    ? undefined
    : `an error without its place: ${shown}`;
}

/** Whether the answer has data and no error, in all of its parts. */
export function isGraphqlSuccess(body: Buffer): boolean {
  return !body.includes('"errors":[') && body.includes('"data":{');
}
