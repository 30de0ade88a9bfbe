import type { IncomingMessage } from "node:http";
import { parseObjectId } from "@shoal/model";

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Matches any segment. */
  parameter: Node<T> | undefined;
  /** Matches a segment that is a uuid. */
  uuid: Node<T> | undefined;
  readonly methods: Map<string, T>;
}

/** A route and the raw segments of its parameters; or the methods that the path knows instead. */
export type RouteMatch<T> = { readonly value: T; readonly params: readonly string[] } | { readonly allow: string[] };

/**
 * Finds routes by method and path. Templates are segments: literals, `{name}` for any segment, `{name:uuid}` for a
 * uuid. A literal wins over a parameter, for each method on its own. Empty segments (doubled and trailing slashes) are
 * skipped.
 */
export class Router<T> {
  readonly #root: Node<T> = emptyNode();

  add(method: string, template: string, value: T): void {
    let node = this.#root;
    for (const segment of segmentsOf(template, template.length)) node = childFor(node, segment);
    if (node.methods.has(method)) throw new Error(`two routes for ${method} ${template}`);
    node.methods.set(method, value);
  }

  /** `target` up to `end` is the path. Undefined when no route has that path. */
  find(method: string, target: string, end: number): RouteMatch<T> | undefined {
    const segments = segmentsOf(target, end);
    const params: string[] = [];
    const value = search(this.#root, segments, 0, method, params);
    if (value !== undefined) return { value, params };
    const allow = new Set<string>();
    collectMethods(this.#root, segments, 0, allow);
    return allow.size === 0 ? undefined : { allow: [...allow].sort() };
  }
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), parameter: undefined, uuid: undefined, methods: new Map() };
}

function childFor<T>(node: Node<T>, segment: string): Node<T> {
  if (segment.startsWith("{")) {
    if (segment.endsWith(":uuid}")) {
      node.uuid ??= emptyNode();
      return node.uuid;
    }
    node.parameter ??= emptyNode();
    return node.parameter;
  }
  let child = node.literals.get(segment);
  if (child === undefined) {
    child = emptyNode();
    node.literals.set(segment, child);
  }
  return child;
}

/** More segments than any route has: such a path matches nothing, and must not cost more either. */
const SEGMENTS_MAX = 16;

function segmentsOf(target: string, end: number): string[] {
  const segments: string[] = [];
  let from = 0;
  while (from < end && segments.length < SEGMENTS_MAX) {
    const slash = target.indexOf("/", from);
    const to = slash === -1 || slash > end ? end : slash;
    if (to > from) segments.push(target.slice(from, to));
    from = to + 1;
  }
  return segments;
}

function search<T>(node: Node<T>, segments: string[], at: number, method: string, params: string[]): T | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.methods.get(method);
  const literal = node.literals.get(segment);
  if (literal !== undefined) {
    const value = search(literal, segments, at + 1, method, params);
    if (value !== undefined) return value;
  }
  for (const child of [node.uuid, node.parameter]) {
    if (child === undefined || (child === node.uuid && parseObjectId(segment) === undefined)) continue;
    params.push(segment);
    const value = search(child, segments, at + 1, method, params);
    if (value !== undefined) return value;
    params.pop();
  }
  return undefined;
}

function collectMethods<T>(node: Node<T>, segments: string[], at: number, methods: Set<string>): void {
  const segment = segments[at];
  if (segment === undefined) {
    for (const method of node.methods.keys()) methods.add(method);
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) collectMethods(literal, segments, at + 1, methods);
  if (node.uuid !== undefined && parseObjectId(segment) !== undefined) {
    collectMethods(node.uuid, segments, at + 1, methods);
  }
  if (node.parameter !== undefined) collectMethods(node.parameter, segments, at + 1, methods);
}

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
