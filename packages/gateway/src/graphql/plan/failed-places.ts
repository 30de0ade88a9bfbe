import { JsonScanner } from "../../json/json-scanner.js";

const OPEN_BRACKET = 91;

/** Tokens that are read in one step. */
const STEP_TOKENS = 16_384;

/**
 * The paths of the values that begin at `places`, in ascending order, of a response whose JSON is written up to there or further;
 * yields now and then.
 */
export function* pathsOf(response: Buffer, places: readonly number[]): Generator<void, readonly (readonly string[])[]> {
  const scanner = new JsonScanner(response, Number.POSITIVE_INFINITY);
  const paths: (readonly string[])[] = [];
  /** The name of the member, or the index, in each container that is open. */
  const path: (string | number)[] = [];
  for (let tokens = 1; paths.length < places.length; tokens++) {
    if (tokens % STEP_TOKENS === 0) yield;
    const token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "problem" || token === "end") break;
    if (token === "close") path.pop();
    else if (token === "key") path[path.length - 1] = response.toString("latin1", scanner.start + 1, scanner.at - 1);
    else {
      const last = path.at(-1);
      if (typeof last === "number") path[path.length - 1] = last + 1;
      // The first name is that of `data` itself.
      if (scanner.start === places[paths.length]) paths.push(path.slice(1).map(String));
      if (token === "open") path.push(response[scanner.start] === OPEN_BRACKET ? -1 : "");
    }
  }
  return paths;
}
