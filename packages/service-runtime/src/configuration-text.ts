import { type KnownName, nearestName } from "@shoal/model";
import { Composer, type CST, isMap, isScalar, isSeq, LineCounter, Parser } from "yaml";
import { FORMER_SETTINGS } from "./former-settings.js";
import { type FoundValue, quote, refused, type SettingValue } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";

/** Our deepest value stands four deep. */
const DEPTH_MAX = 16;
const REASON_CHARS_MAX = 200;

const KNOWN: readonly KnownName[] = [...SETTINGS, ...UNBUILT_FEATURES].map(({ key, variable }) => ({
  name: key,
  alsoWritten: [variable, ...key.split(".").slice(-1)],
}));
const KEYS: ReadonlySet<string> = new Set([...KNOWN.map(({ name }) => name), ...FORMER_SETTINGS.map(({ key }) => key)]);
const SECTIONS: ReadonlySet<string> = new Set(
  [...KEYS].flatMap((key) => {
    const names = key.split(".");
    return names.slice(1).map((_, i) => names.slice(0, i + 1).join("."));
  }),
);

/** The values in the text of a configuration file by key, with the line each stands on. */
export function readConfigurationText(source: string, path: string): ReadonlyMap<string, FoundValue> {
  const lines = new LineCounter();
  const at = (node: unknown): string => {
    const offset = (node as { range?: readonly number[] } | undefined)?.range?.[0];
    return offset === undefined ? path : `${path} line ${lines.linePos(offset).line}`;
  };
  const values = new Map<string, FoundValue>();
  const seen = new Map<string, string>();

  const readMap = (map: unknown, prefix: string): void => {
    if (!isMap(map))
      throw refused(`${at(map)} must have keys and values${prefix && `: ${prefix.slice(0, -1)} is a section`}`);
    for (const { key: keyNode, value: node } of map.items) {
      const name = isScalar(keyNode) ? keyNode.value : undefined;
      if (typeof name !== "string")
        throw refused(`${at(keyNode)} has a key that is no text${prefix && ` below ${prefix.slice(0, -1)}`}`);
      const key = `${prefix}${name}`;
      const isSection = SECTIONS.has(key);
      // A dot in one name would make two places of one key.
      if (name.includes(".") || !(isSection || KEYS.has(key))) refuseUnknown(key, at(keyNode), name.includes("."));
      const before = seen.get(key);
      if (before !== undefined)
        throw refused(`${at(keyNode)} has the key ${key} for the second time; the first is ${before}`);
      seen.set(key, at(keyNode));
      if (isEmpty(node)) continue;
      if (isSection) readMap(node, `${key}.`);
      else values.set(key, { value: readValue(node, key, at), place: `${key} (${at(keyNode)})` });
    }
  };

  const contents = parse(source, path, lines);
  if (!isEmpty(contents)) readMap(contents, "");
  return values;
}

/**
 * The root of the one document. Keys are compared by us: the check of `yaml` takes the square of their number. `core`
 * also where a `%YAML 1.1` asks for other words for true and false.
 */
function parse(source: string, path: string, lineCounter: LineCounter): unknown {
  const tokens = [...new Parser(lineCounter.addNewLine).parse(source)];
  if (isDeeperThan(DEPTH_MAX, tokens))
    throw refused(`the configuration file ${path} is nested more than ${DEPTH_MAX} deep`);
  const documents = [...new Composer({ schema: "core", uniqueKeys: false }).compose(tokens, true, source.length)];
  for (const { errors, warnings } of documents) {
    const [fault] = [...errors, ...warnings];
    if (fault === undefined) continue;
    const { line, col } = lineCounter.linePos(fault.pos[0]);
    const reason = fault.message.replace(/[\s\p{Cc}]+/gu, " ").slice(0, REASON_CHARS_MAX);
    throw refused(`${path} line ${line}, column ${col} is not valid YAML or JSON: ${reason}`);
  }
  if (documents.length > 1) throw refused(`the configuration file ${path} has ${documents.length} documents, not one`);
  return documents[0]?.contents ?? null;
}

/** Whether tokens lie in more than `most` collections. With a list of its own: the composer would end its stack. */
function isDeeperThan(most: number, tokens: readonly CST.Token[]): boolean {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { token, depth } = one;
    if (depth > most) return true;
    const inside =
      token.type === "document"
        ? [token.value]
        : "items" in token
          ? token.items.flatMap((item: CST.CollectionItem): (CST.Token | null | undefined)[] => [item.key, item.value])
          : [];
    for (const next of inside) if (next) open.push({ token: next, depth: depth + 1 });
  }
  return false;
}

function isEmpty(node: unknown): boolean {
  return node === null || (isScalar(node) && (node.value === null || node.value === ""));
}

/**
 * A text, a number, true or false, or a list of them. Aliases (`*name`) are refused: no setting needs one, and a few
 * lines of them can stand for gigabytes.
 */
function readValue(node: unknown, key: string, at: (node: unknown) => string): SettingValue {
  if (isScalar(node)) {
    const { value } = node;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  }
  if (isSeq(node)) {
    return node.items.map((item) => {
      if (isSeq(item)) throw refused(`${at(item)}: ${key} has a list in its list`);
      return readValue(item, key, at);
    });
  }
  throw refused(`${at(node)}: ${key} must be text, a number, true or false, or a list, not an alias or a section`);
}

function refuseUnknown(key: string, place: string, hasDot: boolean): never {
  const nearest = nearestName(key, KNOWN);
  const advice = hasDot ? "; names are nested, not joined with dots" : "";
  throw refused(`${place} has the unknown key ${quote(key)}${advice}; the nearest known key is ${nearest}`);
}
