import { type Setting, setting, withinBudget } from "../setting.js";
import { etcdEndpoints, hostName, hostPort, hostPorts, oneOf, text, truth, wholeNumber } from "../setting-parsers.js";

const MIB = 1024 * 1024;

/** How the processes of a cluster find and trust each other. `serve` needs none of them. */
export const CLUSTER_SETTINGS = {
  coordinatorAddresses: {
    ...setting<readonly string[]>(
      "COORDINATOR_ADDRESSES",
      "coordinator.addresses",
      ["127.0.0.1:7100"],
      "Where gateways and storage nodes find the coordinators: `host:port`, separated by commas; a name may have several addresses.",
      hostPorts,
    ),
    fallbackText: "127.0.0.1:7100",
  },
  internalHost: setting(
    "INTERNAL_HOST",
    "internal.host",
    "127.0.0.1",
    "Address on which a storage node, coordinator or contextionary serves the other processes (gRPC).",
    hostName,
  ),
  internalPort: {
    ...unset("INTERNAL_PORT", "internal.port", "Port of the same; 0 takes a free one.", wholeNumber(0, 65_535)),
    fallbackText: "7100 of a coordinator, 7101 of a storage node, 9999 of a contextionary",
  },
  internalAdvertisedAddress: {
    ...unset(
      "INTERNAL_ADVERTISED_ADDRESS",
      "internal.advertised_address",
      "`host:port` under which the others reach this storage node.",
      hostPort,
    ),
    fallbackText: "INTERNAL_HOST (the host's name where that is every address) and the port",
  },
  internalTls: setting(
    "INTERNAL_TLS",
    "internal.tls",
    "auto",
    "Mutual TLS between processes: on, off, or auto: off only where every internal address is one of this machine alone (loopback) and no certificate is named.",
    oneOf("auto", "on", "off"),
  ),
  internalTlsCaFile: file(
    "INTERNAL_TLS_CA_FILE",
    "internal.tls_ca_file",
    "Certificates (PEM) that sign those of the processes.",
  ),
  internalTlsCertFile: file(
    "INTERNAL_TLS_CERT_FILE",
    "internal.tls_cert_file",
    "Certificate of this process; read again when it changes.",
  ),
  internalTlsKeyFile: file("INTERNAL_TLS_KEY_FILE", "internal.tls_key_file", "Its private key."),
  internalMessageBytesMax: setting(
    "INTERNAL_MESSAGE_BYTES_MAX",
    "internal.message_bytes_max",
    512 * MIB,
    "Largest request and largest answer between a gateway and a storage node, what the rows of one such answer may take, and all requests of which not everything has come; to be the same everywhere.",
    wholeNumber(32 * MIB, 1024 * MIB),
  ),
  internalConnectionBytesMax: withinBudget(
    setting(
      "INTERNAL_CONNECTION_BYTES_MAX",
      "internal.connection_bytes_max",
      128 * MIB,
      "Bytes of requests that are worked on, and of answers not yet sent, after which a storage node reads no more from a connection; each gateway has two.",
      wholeNumber(MIB, 64 * 1024 * MIB),
    ),
    1 / 8,
  ),
  internalAnswersBytesMax: withinBudget(
    setting(
      "INTERNAL_ANSWERS_BYTES_MAX",
      "internal.answers_bytes_max",
      1024 * MIB,
      "What the rows of all answers that a storage node makes at the same time may take; above it requests get 429.",
      wholeNumber(MIB, 64 * 1024 * MIB),
    ),
    1 / 8,
  ),
  expectedStorageNodes: setting(
    "CLUSTER_EXPECTED_STORAGE_NODES",
    "cluster.expected_storage_nodes",
    1,
    "Storage nodes that must have registered once before classes can be made and gateways are ready; of the coordinators.",
    wholeNumber(1, 10_000),
  ),
  acceptDataLoss: setting(
    "CLUSTER_ACCEPT_DATA_LOSS",
    "cluster.accept_data_loss",
    false,
    "Whether a storage node, or `serve`, may begin with a new folder although it has shards, with empty shards in the place of missing ones, and without the writes of lost or damaged logs: what they held is lost. For one start.",
    truth,
  ),
  shardWaitSeconds: setting(
    "SHARD_WAIT_SECONDS",
    "shard.wait_seconds",
    15,
    "How long a gateway holds requests for the shards of a storage node that restarts in an orderly way.",
    wholeNumber(0, 3_600),
  ),
  heldRequestBytesMax: withinBudget(
    setting(
      "HELD_REQUEST_BYTES_MAX",
      "shard.held_request_bytes_max",
      256 * MIB,
      "Bytes that held requests would write, all together.",
      wholeNumber(0, 1024 * 1024 * MIB),
    ),
    1 / 8,
  ),
  etcdEndpoints: {
    ...setting<readonly string[]>(
      "ETCD_ENDPOINTS",
      "etcd.endpoints",
      [],
      "etcd of the coordinators: `host:port` or `https://host:port`, separated by commas. Without: a store below PERSISTENCE_DATA_PATH, for one coordinator.",
      etcdEndpoints,
    ),
    fallbackText: "none",
  },
  etcdPrefix: setting(
    "ETCD_PREFIX",
    "etcd.prefix",
    "/shoal",
    "What the keys of this cluster in etcd begin with.",
    text,
  ),
  etcdUsername: setting("ETCD_USERNAME", "etcd.username", "", "User of etcd.", text),
  etcdPassword: {
    ...setting("ETCD_PASSWORD", "etcd.password", "", "Password of that user.", text),
    isSecret: true,
  },
  etcdCaFile: file("ETCD_CA_FILE", "etcd.ca_file", "Certificates (PEM) that sign those of etcd."),
  etcdCertFile: file(
    "ETCD_CERT_FILE",
    "etcd.cert_file",
    "Certificate with which a coordinator proves itself to etcd; read again when it changes.",
  ),
  etcdKeyFile: file("ETCD_KEY_FILE", "etcd.key_file", "Its private key."),
} as const;

function unset<T>(variable: string, key: string, meaning: string, parse: Setting<T>["parse"]): Setting<T | undefined> {
  return setting<T | undefined>(variable, key, undefined, meaning, parse);
}

function file(
  variable: string,
  key: string,
  meaning: string,
): Setting<string | undefined> & { readonly fallbackText: string } {
  return { ...unset(variable, key, meaning, text), fallbackText: "none" };
}
