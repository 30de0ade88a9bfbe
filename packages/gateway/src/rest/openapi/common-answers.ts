import type { Route } from "../../http/route.js";

/**
 * The answers to requests that do not get as far as the operation, by status: they follow from the route. What is wrong
 * with any request, whatever it asks for (404 and 405 of paths, 408, 417, 431), is told in the document's introduction.
 */
export function commonAnswers(route: Route): ReadonlyMap<number, string> {
  const answers = new Map<number, string>();
  if (route.body === "json") {
    answers.set(400, "The body is no JSON, or has a member of the wrong type.");
    answers.set(413, "The body, the batch or the object is larger than its limit.");
    answers.set(422, "The body is missing.");
  }
  if (route.path.includes("{")) answers.set(400, answers.get(400) ?? "The path has a malformed percent-encoding.");
  if (route.access !== "open") {
    answers.set(401, "The token is not valid, or there is none and anonymous access is off.");
    if (typeof route.access !== "string") answers.set(403, "The user may not do this.");
  }
  if (route.body === "unchecked") return answers;
  answers.set(406, "The client does not take JSON.");
  answers.set(415, "The body is not announced as JSON, or packed in another way than by gzip.");
  answers.set(429, "The server has too much to do; `Retry-After` says when to try again.");
  answers.set(500, "A fault of the server, or stored data that is damaged.");
  answers.set(503, "A part that is needed cannot be reached; `Retry-After` says when to try again.");
  answers.set(504, `The time-out has passed (\`${timeoutSetting(route)}\`).`);
  return answers;
}

function timeoutSetting(route: Route): string {
  return route.timeout === "batch" ? "BATCH_TIMEOUT_SECONDS" : "REQUEST_TIMEOUT_SECONDS";
}
