import { ShoalError } from "@shoal/model";
import { findValue, quote, type SettingSource, type SettingValue } from "./setting.js";

interface UnbuiltFeature {
  readonly variable: string;
  readonly key: string;
  readonly feature: string;
  /** Whether that value asks for the feature; a value that asks for its absence is fine. Default: every value does. */
  readonly asks?: (value: SettingValue) => boolean;
}

const unlessEmptyList = (value: SettingValue): boolean => !(Array.isArray(value) && value.length === 0);

/**
 * Variables and keys of the reference whose feature is not there yet. An operator who asks for one learns it at the
 * start. Whoever builds the feature moves its lines to `settings/`.
 */
export const UNBUILT_FEATURES: readonly UnbuiltFeature[] = [
  { variable: "ENABLE_MODULES", key: "enable_modules", feature: "modules", asks: unlessEmptyList },
  { variable: "MODULES_PATH", key: "modules_path", feature: "modules" },
  { variable: "CONTEXTIONARY_URL", key: "contextionary.url", feature: "modules" },
  { variable: "TRANSFORMERS_INFERENCE_API", key: "transformers.inference_api", feature: "modules" },
  { variable: "QNA_INFERENCE_API", key: "qna.inference_api", feature: "modules" },
  { variable: "IMAGE_INFERENCE_API", key: "image.inference_api", feature: "modules" },
  { variable: "NER_INFERENCE_API", key: "ner.inference_api", feature: "modules" },
  { variable: "SPELLCHECK_INFERENCE_API", key: "spellcheck.inference_api", feature: "modules" },
  { variable: "CLUSTER_JOIN", key: "cluster.join", feature: "a cluster of several processes" },
  { variable: "CLUSTER_GOSSIP_BIND_PORT", key: "cluster.gossipBindPort", feature: "a cluster of several processes" },
  { variable: "CLUSTER_DATA_BIND_PORT", key: "cluster.dataBindPort", feature: "a cluster of several processes" },
];

/** Fails with `invalid` when a value asks for a feature that this version does not have, naming both. */
export function refuseUnbuiltFeatures(sources: readonly SettingSource[]): void {
  for (const { feature, asks = () => true, ...names } of UNBUILT_FEATURES) {
    const found = findValue(names, sources);
    if (found === undefined || !asks(found.value)) continue;
    throw new ShoalError(
      "invalid",
      `${found.place} asks for ${feature}, which this version does not have: leave it unset, got ${quote(found.value)}`,
    );
  }
}
