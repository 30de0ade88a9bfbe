import { JsonNumber } from "../objects/json-number.js";
import { escapeText } from "../objects/value-wording.js";

/** Longer clauses are cut in messages. */
const CLAUSE_CHARS_MAX = 500;

/**
 * A clause as messages show it: JSON with its keys in order and no space, what cannot be seen as escapes. Costs no more than
 * what is shown.
 */
export function clauseText(clause: unknown): string {
  const text = write(clause, CLAUSE_CHARS_MAX + 1);
  return text.length <= CLAUSE_CHARS_MAX ? text : `${text.slice(0, CLAUSE_CHARS_MAX)}…`;
}

/** At least the first `room` characters of the JSON of `value`. */
function write(value: unknown, room: number): string {
  if (room <= 0) return "";
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return escapeText(JSON.stringify(value.slice(0, room)));
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== "object") return String(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) {
      if (text.length >= room) break;
      text += (text === "" ? "[" : ",") + write(item, room - text.length);
    }
    return `${text === "" ? "[" : text}]`;
  }
  for (const [name, member] of Object.entries(value).sort(byName)) {
    if (text.length >= room) break;
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${write(name, room)}:`;
    text += write(member, room - text.length);
  }
  return `${text === "" ? "{" : text}}`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
