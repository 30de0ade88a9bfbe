import { quote, refused, type SettingsReader } from "./setting.js";

export interface UnbuiltFeature {
  readonly variable: string;
  readonly key: string;
  readonly feature: string;
  /** What to do for the same end. */
  readonly instead?: string;
  /** Values that ask for nothing, in lower case: defaults of the reference, which people write down. */
  readonly nothing?: readonly string[];
}

/** How a switch is turned off, in lower case. */
export const OFF: readonly string[] = ["false", "off", "disabled", "0"];

/**
 * Variables and keys of the reference whose feature is not there yet. An operator who asks for one learns it at the
 * start. Whoever builds the feature moves its lines to `settings/`.
 */
export const UNBUILT_FEATURES: readonly UnbuiltFeature[] = [
  unbuilt("MODULES_PATH", "modules_path", "modules from files"),
  unbuilt(
    "AUTHENTICATION_OIDC_CERTIFICATE",
    "authentication.oidc.certificate",
    "an issuer's certificate as a setting",
    { instead: "name a file with the certificate in NODE_EXTRA_CA_CERTS" },
  ),
  unbuilt("CLUSTER_JOIN", "cluster.join", "nodes that find each other by gossip", {
    instead: "start `shoal storage-node` with COORDINATOR_ADDRESSES",
  }),
  unbuilt("CLUSTER_GOSSIP_BIND_PORT", "cluster.gossipBindPort", "nodes that find each other by gossip", {
    instead: "start `shoal storage-node` with COORDINATOR_ADDRESSES",
  }),
  unbuilt("CLUSTER_DATA_BIND_PORT", "cluster.dataBindPort", "the data port of the reference", {
    instead: "start `shoal storage-node` with INTERNAL_PORT",
  }),
  unbuilt("REPLICATION_MINIMUM_FACTOR", "replication.minimum_factor", "a least number of copies", {
    nothing: ["0", "1"],
  }),
  unbuilt("DEFAULT_VECTOR_DISTANCE_METRIC", "default_vector_distance_metric", "another distance than cosine", {
    nothing: ["cosine"],
  }),
  unbuilt("DEFAULT_QUANTIZATION", "default_quantization", "compressed vectors", { nothing: ["none", "uncompressed"] }),
  unbuilt("DEFAULT_TOKENIZATION", "default_tokenization", "other tokens than words", { nothing: ["word"] }),
  unbuilt("DISABLE_GRAPHQL", "disable_graphql", "a server without GraphQL", { nothing: OFF }),
  unbuilt("OPERATIONAL_MODE", "operational_mode", "a server that takes only some operations", {
    nothing: ["readwrite"],
  }),
  unbuilt(
    "MAXIMUM_ALLOWED_COLLECTIONS_COUNT",
    "maximum_allowed_collections_count",
    "a bound of classes under this name",
    { instead: "set SCHEMA_CLASSES_MAX", nothing: ["-1"] },
  ),
];

function unbuilt(
  variable: string,
  key: string,
  feature: string,
  advice: Pick<UnbuiltFeature, "instead" | "nothing"> = {},
): UnbuiltFeature {
  return { variable, key, feature, ...advice };
}

/** Fails with `invalid` when a value asks for a feature that this version does not have, naming both. */
export function refuseUnbuiltFeatures(settings: SettingsReader): void {
  for (const { feature, instead, nothing = [], ...names } of UNBUILT_FEATURES) {
    const found = settings.find(names);
    if (found === undefined || nothing.includes(String(found.value).trim().toLowerCase())) continue;
    throw refused(
      `${found.place} asks for ${feature}, which this version does not have: leave it unset${instead === undefined ? "" : ` and ${instead}`}, got ${quote(found.value)}`,
    );
  }
}
