import { gzipSync } from "node:zlib";
import { type Answer, at, type HttpClient } from "../http-client.js";
import { differences } from "./match-answer.js";
import type { Expectation, RequestStep, Step } from "./scenario-file.js";
import type { Scope } from "./scope.js";

const SHOWN_MAX = 2_000;
const EVENTUALLY_MS = 30_000;
const EVENTUALLY_PAUSE_MS = 20;

/** Sends the steps one after the other; throws at the first answer that is not as expected. */
export async function runSteps(
  steps: readonly Step[],
  http: HttpClient,
  scope: Scope,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [i, step] of steps.entries()) {
    if (!("send" in step)) {
      await new Promise((resolve) => setTimeout(resolve, step["wait-ms"]));
      continue;
    }
    const place = `step ${i + 1}`;
    const repetitions = Array.from({ length: step.times ?? 1 }, (_, n) => n);
    if (step["at-once"] === true) {
      await Promise.all(repetitions.map((n) => runRequest(step, place, http, scope, headers, n)));
    } else {
      for (const n of repetitions) {
        if (step.eventually === true) await untilAsExpected(() => runRequest(step, place, http, scope, headers, n));
        else await runRequest(step, place, http, scope, headers, n);
      }
    }
  }
}

/** Fails as the last of the attempts. */
async function untilAsExpected(attempt: () => Promise<void>): Promise<void> {
  const end = Date.now() + EVENTUALLY_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, EVENTUALLY_PAUSE_MS));
  }
}

async function runRequest(
  step: RequestStep,
  place: string,
  http: HttpClient,
  outer: Scope,
  shared: Readonly<Record<string, string>>,
  n: number,
): Promise<void> {
  const scope = outer.of({ n, sentMs: Date.now() });
  const [method = "", path = ""] = scope.text(step.send).split(" ");
  const headers = scope.fill({ ...shared, ...step.headers }) as Record<string, string | null>;
  const body = bodyOf(step, scope);
  if (step.gzip === true) headers["Content-Encoding"] ??= "gzip";
  const bytes = body === undefined || step.gzip !== true ? body : gzipSync(body);
  const answer = await http.send(method, path, bytes, headers);
  const wrong = check(step, method, answer, scope);
  if (wrong.length === 0) return;
  throw new Error(
    [
      `${place}: ${method} ${path}`,
      ...(body === undefined ? [] : [`  sent ${shorten(body)}`]),
      `  got ${answer.status} ${shorten(answer.text)}`,
      ...wrong.map((one) => `  ${one}`),
    ].join("\n"),
  );
}

function bodyOf(step: RequestStep, scope: Scope): string | undefined {
  if (step.text !== undefined) return scope.text(step.text);
  return step.body === undefined ? undefined : JSON.stringify(scope.fill(step.body));
}

function check(step: RequestStep, method: string, answer: Answer, scope: Scope): readonly string[] {
  for (const [name, path] of Object.entries(step.capture ?? {})) scope.set(name, captured(answer, path));
  if (step.expect === undefined) {
    return answer.status >= 200 && answer.status < 300 ? [] : [`status: expected 2xx, got ${answer.status}`];
  }
  const expected = expectationOf(step.expect, scope);
  const headers = Object.entries(expected.headers ?? {}).flatMap(([name, value]) =>
    differences(scope.fill(value), answer.headers.get(name) ?? undefined, `header ${name}`),
  );
  return [
    ...differences(scope.fill(expected.status), answer.status, "status"),
    ...headers,
    ...checkBody(expected, method, answer, scope),
  ];
}

function expectationOf(expect: NonNullable<RequestStep["expect"]>, scope: Scope): Expectation {
  if (typeof expect === "object") return expect;
  if (expect !== "not-there") return { status: expect };
  return scope.get("profile") === "spec" ? { status: 404 } : { status: 404, text: "" };
}

function checkBody(expected: Expectation, method: string, answer: Answer, scope: Scope): readonly string[] {
  if (expected.error !== undefined) return errorBody(answer, scope.fill(expected.error));
  if (expected.body === undefined && expected.text === undefined) {
    // Every refusal explains itself; nothing else is said about the body.
    return answer.status >= 400 && method !== "HEAD" ? errorBody(answer, "<string>") : [];
  }
  const text = expected.text === undefined ? [] : differences(scope.text(expected.text), answer.text, "text");
  return expected.body === undefined ? text : [...text, ...differences(scope.fill(expected.body), answer.json, "")];
}

function errorBody(answer: Answer, message: unknown): readonly string[] {
  return differences({ error: [{ message }] }, answer.json, "");
}

function captured(answer: Answer, path: string): unknown {
  if (path === "text") return answer.text;
  if (path.startsWith("header ")) return answer.headers.get(path.slice("header ".length)) ?? undefined;
  const value = at(answer.json, ...path.split("."));
  if (value === undefined) throw new Error(`nothing to capture at ${path} of ${answer.status} ${shorten(answer.text)}`);
  return value;
}

function shorten(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)` : text;
}
