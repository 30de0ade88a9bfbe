import { type ExactJson, NumberLiteral } from "./exact-json.js";

const INDENT = "  ";
/** Lists of numbers (vectors) are wrapped at this width instead of taking a line each. */
const WIDTH_CHARS = 88;

/** JSON for people: one member a line, numbers as they were written, lists of plain values side by side. */
export function formatJson(value: ExactJson): string {
  return written(value, "");
}

function written(value: ExactJson, indent: string): string {
  if (value instanceof NumberLiteral) return value.text;
  if (value instanceof Map) return writtenObject(value, indent);
  if (Array.isArray(value)) return writtenList(value, indent);
  return JSON.stringify(value);
}

function writtenObject(members: ReadonlyMap<string, ExactJson>, indent: string): string {
  if (members.size === 0) return "{}";
  const inner = indent + INDENT;
  const lines = [...members].map(([name, value]) => `${inner}${JSON.stringify(name)}: ${written(value, inner)}`);
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

function writtenList(items: readonly ExactJson[], indent: string): string {
  if (items.length === 0) return "[]";
  const inner = indent + INDENT;
  if (items.every(isShort)) return wrapped(items, indent, inner);
  const words = items.every((item) => typeof item === "string")
    ? `[${items.map((item) => JSON.stringify(item)).join(", ")}]`
    : "";
  if (words !== "" && indent.length + words.length <= WIDTH_CHARS / 2) return words;
  return `[\n${items.map((item) => inner + written(item, inner)).join(",\n")}\n${indent}]`;
}

function isShort(value: ExactJson): boolean {
  return value instanceof NumberLiteral || typeof value === "boolean" || value === null;
}

function wrapped(items: readonly ExactJson[], indent: string, inner: string): string {
  const texts = items.map((item) => written(item, inner));
  const single = `[${texts.join(", ")}]`;
  if (indent.length + single.length <= WIDTH_CHARS) return single;
  const lines: string[] = [];
  let line = "";
  for (const text of texts) {
    if (line !== "" && inner.length + line.length + text.length + 2 > WIDTH_CHARS) {
      lines.push(inner + line);
      line = text;
    } else line = line === "" ? text : `${line}, ${text}`;
  }
  lines.push(inner + line);
  return `[\n${lines.join(",\n")}\n${indent}]`;
}
