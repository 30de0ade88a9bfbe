import { ShoalError } from "@shoal/model";
import { findValue, quote, type SettingSource } from "./setting.js";

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
  { variable: "MODULES_PATH", key: "modules_path", feature: "modules from files" },
  {
    variable: "AUTHENTICATION_OIDC_CERTIFICATE",
    key: "authentication.oidc.certificate",
    feature: "an issuer's certificate as a setting",
    instead: "name a file with the certificate in NODE_EXTRA_CA_CERTS",
  },
  {
    variable: "CLUSTER_JOIN",
    key: "cluster.join",
    feature: "nodes that find each other by gossip",
    instead: "start `shoal storage-node` with COORDINATOR_ADDRESSES",
  },
  {
    variable: "CLUSTER_GOSSIP_BIND_PORT",
    key: "cluster.gossipBindPort",
    feature: "nodes that find each other by gossip",
    instead: "start `shoal storage-node` with COORDINATOR_ADDRESSES",
  },
  {
    variable: "CLUSTER_DATA_BIND_PORT",
    key: "cluster.dataBindPort",
    feature: "the data port of the reference",
    instead: "start `shoal storage-node` with INTERNAL_PORT",
  },
  {
    variable: "REPLICATION_MINIMUM_FACTOR",
    key: "replication.minimum_factor",
    feature: "more than one copy of each object",
    nothing: ["0", "1"],
  },
  {
    variable: "DEFAULT_VECTOR_DISTANCE_METRIC",
    key: "default_vector_distance_metric",
    feature: "another distance than cosine",
    nothing: ["cosine"],
  },
  {
    variable: "DEFAULT_QUANTIZATION",
    key: "default_quantization",
    feature: "compressed vectors",
    nothing: ["none", "uncompressed"],
  },
  {
    variable: "DEFAULT_TOKENIZATION",
    key: "default_tokenization",
    feature: "other tokens than words",
    nothing: ["word"],
  },
  { variable: "DISABLE_GRAPHQL", key: "disable_graphql", feature: "a server without GraphQL", nothing: OFF },
  {
    variable: "OPERATIONAL_MODE",
    key: "operational_mode",
    feature: "a server that takes only some operations",
    nothing: ["readwrite"],
  },
  {
    variable: "MAXIMUM_ALLOWED_COLLECTIONS_COUNT",
    key: "maximum_allowed_collections_count",
    feature: "a bound of classes under this name",
    instead: "set SCHEMA_CLASSES_MAX",
    nothing: ["-1"],
  },
];

/** Fails with `invalid` when a value asks for a feature that this version does not have, naming both. */
export function refuseUnbuiltFeatures(sources: readonly SettingSource[]): void {
  for (const { feature, instead, nothing = [], ...names } of UNBUILT_FEATURES) {
    const found = findValue(names, sources);
    if (found === undefined || nothing.includes(String(found.value).trim().toLowerCase())) continue;
    throw new ShoalError(
      "invalid",
      `${found.place} asks for ${feature}, which this version does not have: leave it unset${instead === undefined ? "" : ` and ${instead}`}, got ${quote(found.value)}`,
    );
  }
}
