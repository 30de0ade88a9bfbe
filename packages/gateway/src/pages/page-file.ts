import { createHash } from "node:crypto";

/** A file as somebody with a disk has read it: the gateway has none, and serves what it was handed at the start. */
export interface PageFile {
  /** Relative to the folder it was read from, with forward slashes, e.g. `assets/index-C2a9xQ1z.js`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The same bytes packed with gzip, for clients that take them. */
  readonly gzip?: Uint8Array;
}

/** A file with everything that its responses need, made once. */
export interface ServedFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly gzip: { readonly bytes: Uint8Array; readonly etag: string } | undefined;
  /** Its name changes with its content, so that it may be kept for ever. */
  readonly isImmutable: boolean;
}

/** What browsers shall take a file for, by the end of its name; `nosniff` forbids them to guess. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["ico", "image/x-icon"],
  ["js", "text/javascript; charset=utf-8"],
  ["json", "application/json"],
  ["map", "application/json"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["txt", "text/plain; charset=utf-8"],
  ["woff2", "font/woff2"],
]);

/** `isImmutable` is for names that hold a hash of their content. */
export function servedFile(file: PageFile, isImmutable: boolean): ServedFile {
  const { path, bytes, gzip } = file;
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return {
    contentType: CONTENT_TYPES.get(extension) ?? "application/octet-stream",
    bytes,
    etag: `"${hash}"`,
    gzip: gzip === undefined ? undefined : { bytes: gzip, etag: `"${hash}-gzip"` },
    isImmutable,
  };
}
