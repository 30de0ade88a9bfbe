import type { RequestWarnings } from "@shoal/model";
import type { HttpResponse } from "./http-response.js";

/** Longer texts are cut: names come from clients, and proxies bound the headers of an answer. */
const TEXT_CHARS_MAX = 300;

/** The answer with its warnings. */
export function warnedAnswer(answer: HttpResponse, warnings: RequestWarnings): HttpResponse {
  return { ...answer, headers: [...(answer.headers ?? []), ...warningHeaders(warnings)] };
}

/** One header `Warning: 299 - "…"` (RFC 7234, 5.5) a warning, and one for those that are only counted. */
export function warningHeaders({ worded, others }: RequestWarnings): readonly string[] {
  const texts = others === 0 ? worded : [...worded, `and ${others} more of the kind`];
  return texts.flatMap((text) => ["Warning", `299 - ${quotedString(text)}`]);
}

/** Printable ASCII only: whatever else a name holds cannot end the header or the string. */
function quotedString(text: string): string {
  const printable = text.slice(0, TEXT_CHARS_MAX).replace(/[^\x20-\x7e]/g, "?");
  return `"${printable.replace(/["\\]/g, "\\$&")}"`;
}
