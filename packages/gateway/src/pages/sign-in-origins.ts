import type { AccessControl } from "../auth/access.js";

/** Endpoints that the console's own script asks; to the others the browser is sent as a whole. */
const ASKED = ["issuer", "token_endpoint", "revocation_endpoint"];

/** Origins that the console talks to when people sign in; none while the issuer is not known. */
export function signInOrigins(access: AccessControl): readonly string[] {
  const document = openIdOf(access);
  const origins = ASKED.flatMap((member) => {
    const url = document[member];
    return typeof url === "string" && /^https?:/i.test(url) && URL.canParse(url) ? [new URL(url).origin] : [];
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
