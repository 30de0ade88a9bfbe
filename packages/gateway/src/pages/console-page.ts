import type { Router } from "express";
import type { PageFile } from "./page-file.js";
import { missingPage, servePageFolder } from "./page-folder.js";

export interface ConsolePageParts {
  /** The built console; none when it was not built. */
  readonly files: readonly PageFile[];
  /** Origins the console talks to beside its own: those of the issuer, when people sign in there. */
  readonly signInOrigins: () => readonly string[];
}

const PREFIX = "/console";

/** `/console`: the page where people write queries and look at objects. */
export function consolePage({ files, signInOrigins }: ConsolePageParts): Router {
  if (files.length === 0) return missingPage(PREFIX, "the console is not built: npm run build makes it");
  return servePageFolder({
    prefix: PREFIX,
    files,
    isImmutable: (path) => path.startsWith("assets/"),
    contentSecurityPolicy: () => consolePolicy(signInOrigins()),
  });
}

/** Everything comes from the gateway itself; nothing inline runs; nobody may frame it. */
function consolePolicy(signInOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...signInOrigins].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
