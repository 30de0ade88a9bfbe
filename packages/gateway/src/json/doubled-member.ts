import { JsonScanner } from "./json-scanner.js";
import { JSON_DEPTH_MAX } from "./parse-json.js";

/** An object or list that has begun and not ended. */
interface Open {
  /** Names so far; undefined of a list. */
  readonly names: Set<string> | undefined;
  /** The last name, or the place in the list. */
  last: string | number;
}

/**
 * The place of the first member that an object of a JSON text has twice, such as `permissions[0].data.collection`; undefined when
 * there is none, or when the text is no JSON. `JSON.parse` takes the last one without a word.
 */
export function doubledMember(bytes: Buffer): string | undefined {
  const scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
  const open: Open[] = [];
  const beginItem = (): void => {
    const within = open.at(-1);
    if (typeof within?.last === "number") within.last++;
  };
  for (;;) {
    const token = scanner.next(Number.POSITIVE_INFINITY);
    switch (token) {
      case "end":
      case "problem":
        return undefined;
      case "open": {
        beginItem();
        const isObject = bytes[scanner.start] === OPEN_BRACE;
        open.push({ names: isObject ? new Set() : undefined, last: isObject ? "" : -1 });
        break;
      }
      case "close":
        open.pop();
        break;
      case "key": {
        const object = open.at(-1);
        const name = String(JSON.parse(bytes.toString("utf8", scanner.start, scanner.at)));
        if (object?.names === undefined) break;
        object.last = name;
        if (object.names.has(name)) return placeOf(open);
        object.names.add(name);
        break;
      }
      default:
        beginItem();
    }
  }
}

const OPEN_BRACE = 0x7b;

function placeOf(open: readonly Open[]): string {
  return open
    .map(({ last }, at) => (typeof last === "number" ? `[${last}]` : `${at === 0 ? "" : "."}${last}`))
    .join("");
}
