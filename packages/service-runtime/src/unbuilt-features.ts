import { ShoalError } from "@shoal/model";
import { findValue, quote, type SettingSource } from "./setting.js";

interface UnbuiltFeature {
  readonly variable: string;
  readonly key: string;
  readonly feature: string;
  /** What to do for the same end. */
  readonly instead?: string;
}

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
];

/** Fails with `invalid` when a value asks for a feature that this version does not have, naming both. */
export function refuseUnbuiltFeatures(sources: readonly SettingSource[]): void {
  for (const { feature, instead, ...names } of UNBUILT_FEATURES) {
    const found = findValue(names, sources);
    if (found === undefined) continue;
    throw new ShoalError(
      "invalid",
      `${found.place} asks for ${feature}, which this version does not have: leave it unset${instead === undefined ? "" : ` and ${instead}`}, got ${quote(found.value)}`,
    );
  }
}
