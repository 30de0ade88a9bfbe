import { ShoalError } from "@shoal/model";
import type { SettingSource } from "./setting.js";

/** Values that count as on, exactly as in the reference (reference-rest 7.1). */
const ON = new Set(["on", "enabled", "1", "true"]);

interface UnbuiltFeature {
  readonly variable: string;
  readonly feature: string;
  /** Whether that value asks for the feature; a value that asks for its absence is fine. */
  readonly asks: (value: string, read: (variable: string) => string | undefined) => boolean;
}

const always = (): boolean => true;
const whenOn = (value: string): boolean => ON.has(value);
const unlessFalse = (value: string): boolean => value.toLowerCase() !== "false";
const unlessAutoSchemaIsOff = (_: string, read: (variable: string) => string | undefined): boolean =>
  unlessFalse(read("AUTOSCHEMA_ENABLED") ?? "true");

/** Variables of the reference whose feature is not there yet. An operator who asks for one learns it at the start. */
const UNBUILT_FEATURES: readonly UnbuiltFeature[] = [
  {
    variable: "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED",
    feature: "switching anonymous access off",
    asks: (value) => !ON.has(value),
  },
  { variable: "AUTHENTICATION_OIDC_ENABLED", feature: "OpenID Connect", asks: whenOn },
  { variable: "AUTHORIZATION_ADMINLIST_ENABLED", feature: "the admin list", asks: whenOn },
  { variable: "AUTOSCHEMA_ENABLED", feature: "auto-schema", asks: unlessFalse },
  { variable: "AUTOSCHEMA_DEFAULT_STRING", feature: "auto-schema", asks: unlessAutoSchemaIsOff },
  { variable: "AUTOSCHEMA_DEFAULT_NUMBER", feature: "auto-schema", asks: unlessAutoSchemaIsOff },
  { variable: "AUTOSCHEMA_DEFAULT_DATE", feature: "auto-schema", asks: unlessAutoSchemaIsOff },
  { variable: "ENABLE_MODULES", feature: "modules", asks: always },
  { variable: "CONTEXTIONARY_URL", feature: "modules", asks: always },
  { variable: "TRANSFORMERS_INFERENCE_API", feature: "modules", asks: always },
  { variable: "QNA_INFERENCE_API", feature: "modules", asks: always },
  { variable: "IMAGE_INFERENCE_API", feature: "modules", asks: always },
  { variable: "NER_INFERENCE_API", feature: "modules", asks: always },
  { variable: "SPELLCHECK_INFERENCE_API", feature: "modules", asks: always },
  { variable: "CLUSTER_JOIN", feature: "a cluster of several processes", asks: always },
  { variable: "CLUSTER_GOSSIP_BIND_PORT", feature: "a cluster of several processes", asks: always },
  { variable: "CLUSTER_DATA_BIND_PORT", feature: "a cluster of several processes", asks: always },
  { variable: "METRICS_PORT", feature: "metrics", asks: always },
];

/** Fails with `invalid` when a variable asks for a feature that this version does not have, naming both. */
export function refuseUnbuiltFeatures(sources: readonly SettingSource[]): void {
  const read = (variable: string): string | undefined => {
    for (const source of sources) {
      const value = source(variable);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  for (const { variable, feature, asks } of UNBUILT_FEATURES) {
    const value = read(variable);
    if (value === undefined || !asks(value, read)) continue;
    throw new ShoalError(
      "invalid",
      `${variable} asks for ${feature}, which this version does not have: leave it unset, got ${JSON.stringify(value)}`,
    );
  }
}
