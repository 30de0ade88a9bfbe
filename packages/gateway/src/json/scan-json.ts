/** Where the first JSON value of a text ends, or what is wrong with it, in the words of the reference's decoder. */
export type JsonScan = { readonly end: number } | { readonly problem: string };

/** What may come next; the words complete "invalid character 'x' looking for beginning of …" and the like. */
type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrObjectEnd" | "commaOrArrayEnd";

const EXPECTATION: { readonly [E in Expected]: string } = {
  value: "looking for beginning of value",
  valueOrEnd: "looking for beginning of value",
  key: "looking for beginning of object key string",
  keyOrEnd: "looking for beginning of object key string",
  colon: "after object key",
  commaOrObjectEnd: "after object key:value pair",
  commaOrArrayEnd: "after array element",
};

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/**
 * Reads the first JSON value of `text` without building it; what follows is ignored, as the reference does. Only for
 * texts that `JSON.parse` has refused: this is the slow way. Takes no stack, however deep the value is.
 */
export function scanJson(text: string, depthMax: number): JsonScan {
  /** The closing brackets that are due. */
  const open: string[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    at = matchEnd(SPACE, text, at) ?? at;
    const char = text[at];
    if (char === undefined) return { problem: at === 0 || text.trim() === "" ? "EOF" : "unexpected EOF" };
    let valueEnds = false;
    if (expected === "colon") {
      if (char !== ":") return unexpected(char, expected);
      expected = "value";
      at++;
    } else if (expected === "key" || (expected === "keyOrEnd" && char !== "}")) {
      if (char !== '"') return unexpected(char, expected);
      const key = scanString(text, at);
      if ("problem" in key) return key;
      at = key.end;
      expected = "colon";
    } else if (char === open.at(-1) && expected !== "value") {
      open.pop();
      at++;
      valueEnds = true;
    } else if (expected === "commaOrObjectEnd" || expected === "commaOrArrayEnd") {
      if (char !== ",") return unexpected(char, expected);
      expected = expected === "commaOrObjectEnd" ? "key" : "value";
      at++;
    } else if (char === "{" || char === "[") {
      if (open.length >= depthMax) return { problem: "exceeded max depth" };
      open.push(char === "{" ? "}" : "]");
      expected = char === "{" ? "keyOrEnd" : "valueOrEnd";
      at++;
    } else {
      const scalar = char === '"' ? scanString(text, at) : scanScalar(text, at, char, expected);
      if ("problem" in scalar) return scalar;
      at = scalar.end;
      valueEnds = true;
    }
    if (!valueEnds) continue;
    if (open.length === 0) return { end: at };
    expected = open.at(-1) === "}" ? "commaOrObjectEnd" : "commaOrArrayEnd";
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function unexpected(char: string, expected: Expected): JsonScan {
  return { problem: `invalid character ${quoted(char)} ${EXPECTATION[expected]}` };
}

const ESCAPES = new Set('"\\/bfnrt');

/** The string that begins at `at`. A loop instead of a pattern: strings can be long. */
function scanString(text: string, at: number): JsonScan {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === '"') return { end: i + 1 };
    if (char < " ") return { problem: `invalid character ${quoted(char)} in string literal` };
    if (char !== "\\") continue;
    const escaped = text[++i];
    if (escaped === undefined) break;
    if (escaped === "u") {
      const wrong = /[^0-9a-fA-F]/.exec(text.slice(i + 1, i + 5));
      if (wrong !== null) {
        return { problem: `invalid character ${quoted(wrong[0])} in \\u hexadecimal character escape` };
      }
      i += 4;
    } else if (!ESCAPES.has(escaped)) {
      return { problem: `invalid character ${quoted(escaped)} in string escape code` };
    }
  }
  return { problem: "unexpected EOF" };
}

function scanScalar(text: string, at: number, char: string, expected: Expected): JsonScan {
  const end = matchEnd(/[-\d]/.test(char) ? NUMBER : WORD, text, at);
  return end === undefined ? brokenScalar(text, at, char, expected) : { end };
}

function brokenScalar(text: string, at: number, char: string, expected: Expected): JsonScan {
  if (char === "-") {
    const next = text[at + 1];
    return { problem: next === undefined ? "unexpected EOF" : `invalid character ${quoted(next)} in numeric literal` };
  }
  const word = ["true", "false", "null"].find((candidate) => candidate[0] === char);
  if (word === undefined) return unexpected(char, expected);
  let same = 1;
  while (text[at + same] === word[same]) same++;
  const wrong = text[at + same];
  if (wrong === undefined) return { problem: "unexpected EOF" };
  return { problem: `invalid character ${quoted(wrong)} in literal ${word} (expecting '${word[same]}')` };
}

function quoted(char: string): string {
  if (char === "'") return "'\\''";
  return `'${JSON.stringify(char).slice(1, -1).replace('\\"', '"')}'`;
}
