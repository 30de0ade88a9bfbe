import type { IncomingMessage } from "node:http";

/** The request's path and query; a proxy may send them as an absolute URL. Undefined when it is neither. */
export function targetOf(request: IncomingMessage): string | undefined {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  if (target === "*" && request.method === "OPTIONS") return target;
  const absolute = /^https?:\/\/[^/?#]+/i.exec(target);
  if (absolute === null || !URL.canParse(target)) return undefined;
  const rest = target.slice(absolute[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Whether the path is one of the API, known or not. */
export function isApiPath(target: string): boolean {
  return /^\/*v1(?:[/?]|$)/.test(target);
}

/** Undefined when one of them is not valid percent-encoding of UTF-8. */
export function decodedParams(params: readonly string[]): readonly string[] | undefined {
  if (!params.some((param) => param.includes("%"))) return params;
  try {
    return params.map((param) => decodeURIComponent(param));
  } catch {
    return undefined;
  }
}
