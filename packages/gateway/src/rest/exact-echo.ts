import { type ClassDefinition, type Json, JsonNumber, type Properties } from "@shoal/model";

/**
 * Properties of an answer to a write as JSON. Stored integers are float64, but the echo of an int is exact (reference-rest
 * 3.4): beyond 2^53 it has the literal that was sent. `sent` are the properties of the request.
 */
export function echoProperties(stored: Properties, sent: unknown, definition: ClassDefinition | undefined): string {
  if (!holdsLiterals(sent)) return JSON.stringify(stored);
  const integers = new Set(
    (definition?.properties ?? [])
      .filter(({ dataType }) => /^int(?:\[\])?$/.test(dataType[0] ?? ""))
      .map(({ name }) => name),
  );
  const members = Object.entries(stored).map(([name, value]) => {
    const json = integers.has(name) ? echoInteger(value, sentValue(sent, name)) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${json}`;
  });
  return `{${members.join(",")}}`;
}

/** What a client sent, as JSON with the literals that it sent. Recurses as deep as the body. */
export function sentJson(value: unknown): string {
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sentJson).join(",")}]`;
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${sentJson(member)}`)
    .join(",")}}`;
}

/** Auto-schema takes names whose first letter is in upper case. */
function sentValue(sent: { readonly [name: string]: unknown }, name: string): unknown {
  if (Object.hasOwn(sent, name)) return sent[name];
  const typed = name.charAt(0).toUpperCase() + name.slice(1);
  return Object.hasOwn(sent, typed) ? sent[typed] : undefined;
}

function echoInteger(stored: Json, sent: unknown): string {
  if (sent instanceof JsonNumber && typeof stored === "number") return sent.literal;
  if (!Array.isArray(stored) || !Array.isArray(sent) || stored.length !== sent.length) return JSON.stringify(stored);
  return `[${stored.map((item: Json, at) => echoInteger(item, sent[at])).join(",")}]`;
}

/** Whether a property is a literal or a list with one: only these can be integers beyond 2^53. */
function holdsLiterals(sent: unknown): sent is { readonly [name: string]: unknown } {
  if (typeof sent !== "object" || sent === null) return false;
  for (const value of Object.values(sent)) {
    if (value instanceof JsonNumber) return true;
    if (Array.isArray(value) && value.some((item) => item instanceof JsonNumber)) return true;
  }
  return false;
}
