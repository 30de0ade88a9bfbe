import type { Router } from "express";
import type { AccessControl } from "../auth/access.js";
import type { PageFile } from "./page-file.js";
import { missingPage, pagePolicy, servePageFolder } from "./page-folder.js";

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

/** Endpoints that the console's own script asks; to the others the browser is sent as a whole. */
const ASKED = ["issuer", "token_endpoint", "revocation_endpoint"];

/** A host is a name or an address: `https://*` is a URL, too, and in a policy means everybody. */
const PLAIN_ORIGIN = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;

/** Origins that the console talks to when people sign in; none while the issuer is not known. */
export function signInOrigins(access: AccessControl): readonly string[] {
  const document = openIdOf(access);
  const origins = ASKED.flatMap((member) => {
    const url = document[member];
    const origin = typeof url === "string" && URL.canParse(url) ? new URL(url).origin : "";
    return PLAIN_ORIGIN.test(origin) ? [origin] : [];
  });
  return [...new Set(origins)];
}

function openIdOf(access: AccessControl): Readonly<Record<string, unknown>> {
  try {
    return access.openId?.() ?? {};
  } catch {
    // The page says so itself, when it asks for the same.
    return {};
  }
}
