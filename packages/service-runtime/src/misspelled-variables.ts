import { editDistance, nearestName, ShoalError } from "@shoal/model";
import { FORMER_SETTINGS } from "./former-settings.js";
import { quote } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";
import { UNBUILT_VARIABLES } from "./unbuilt-variables.js";

const VARIABLES: readonly string[] = [...SETTINGS, ...UNBUILT_FEATURES].map(({ variable }) => variable);
const KNOWN: ReadonlySet<string> = new Set([
  ...VARIABLES,
  ...[...UNBUILT_VARIABLES, ...FORMER_SETTINGS].map(({ variable }) => variable),
]);

/** A mistake in one of these can leave a server open to everybody, so that no other name is taken for somebody else's. */
const GUARDS = /^(AUTHENTICATION|AUTHORIZATION)_/i;

/** Kubernetes and linked containers set these for a service that is called `authentication`, for example. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?)$/;

/** Names shorter than this are words that other programs use too. */
const LENGTH_MIN = 8;
const LENGTH_OF_TWO_SLIPS = 16;

/**
 * Fails with `invalid` when a variable is most probably a misspelled one of ours. An environment is full of other
 * programs' variables, so only two kinds are refused: those that are one letter off (two, from 16 letters on), and all
 * that begin like ours of authentication and authorization. Refused and not warned about, as an unknown key of a file
 * is: the server would run with a default instead of what was asked for. Empty ones count as not set.
 */
export function refuseMisspelledVariables(environment: Readonly<Record<string, string | undefined>>): void {
  for (const [variable, value] of Object.entries(environment)) {
    if (value === undefined || value === "" || KNOWN.has(variable)) continue;
    const meant = meantBy(variable);
    if (meant === undefined) continue;
    throw new ShoalError(
      "invalid",
      `${quote(variable)} is no variable of this server, but looks like one: the nearest is ${meant}; unset it or correct it`,
    );
  }
}

function meantBy(variable: string): string | undefined {
  if (SERVICE_LINK.test(variable)) return undefined;
  if (GUARDS.test(variable)) {
    return nearestName(
      variable,
      VARIABLES.filter((name) => GUARDS.test(name)).map((name) => ({ name, alsoWritten: [] })),
    );
  }
  if (variable.length < LENGTH_MIN) return undefined;
  return VARIABLES.find((name) => {
    if (name.length < LENGTH_MIN) return false;
    const slipsMax = name.length < LENGTH_OF_TWO_SLIPS ? 1 : 2;
    return Math.abs(name.length - variable.length) <= slipsMax && editDistance(variable, name) <= slipsMax;
  });
}
