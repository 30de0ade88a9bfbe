import type { Router } from "express";
import type { AccessControl } from "../auth/access.js";
import type { PageFile } from "./page-file.js";
import { missingPage, servePageFolder } from "./page-folder.js";
import { pagePolicy } from "./page-policy.js";
import { signInOrigins } from "./sign-in-origins.js";

export interface ConsolePageParts {
  /** The built console; none when it was not built. */
  readonly files: readonly PageFile[];
}

const PREFIX = "/console";

/** `/console`: the page where people write queries and look at objects. */
export function consolePage({ files }: ConsolePageParts, access: AccessControl): Router {
  if (files.length === 0) return missingPage(PREFIX, "the console is not built: npm run build makes it");
  return servePageFolder({
    prefix: PREFIX,
    files,
    isImmutable: (path) => path.startsWith("assets/"),
    contentSecurityPolicy: () => pagePolicy(signInOrigins(access)),
  });
}
