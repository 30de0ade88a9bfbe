import { FACTOR_MAX } from "@shoal/model";
import { setting } from "../setting.js";
import { etcdEndpoints, hostName, hostPort, hostPorts, oneOf, text, truth, wholeNumber } from "../setting-parsers.js";

const MIB = 1024 * 1024;
const BYTES = wholeNumber(MIB, 64 * 1024 * MIB);

/** How the processes of a cluster find and trust each other. `serve` needs none of them. */
export const CLUSTER_SETTINGS = {
  coordinatorAddresses: setting("COORDINATOR_ADDRESSES", "coordinator.addresses", hostPorts, {
    fallback: ["127.0.0.1:7100"],
    fallbackText: "127.0.0.1:7100",
    meaning:
      "Where gateways and storage nodes find the coordinators: `host:port`, separated by commas; a name may have several addresses.",
  }),
  internalHost: setting("INTERNAL_HOST", "internal.host", hostName, {
    fallback: "127.0.0.1",
    meaning: "Address on which a storage node, coordinator or contextionary serves the other processes (gRPC).",
  }),
  internalPort: setting("INTERNAL_PORT", "internal.port", wholeNumber(0, 65_535), {
    fallbackText: "7100 of a coordinator, 7101 of a storage node, 9999 of a contextionary",
    meaning: "Port of the same; 0 takes a free one.",
  }),
  internalAdvertisedAddress: setting("INTERNAL_ADVERTISED_ADDRESS", "internal.advertised_address", hostPort, {
    fallbackText: "INTERNAL_HOST (the host's name where that is every address) and the port",
    meaning: "`host:port` under which the others reach this storage node.",
  }),
  internalTls: setting("INTERNAL_TLS", "internal.tls", oneOf("auto", "on", "off"), {
    fallback: "auto",
    meaning:
      "Mutual TLS between processes: on, off, or auto: off only where every internal address is one of this machine alone (loopback) and no certificate is named.",
  }),
  internalTlsCaFile: setting("INTERNAL_TLS_CA_FILE", "internal.tls_ca_file", text, {
    meaning: "Certificates (PEM) that sign those of the processes.",
  }),
  internalTlsCertFile: setting("INTERNAL_TLS_CERT_FILE", "internal.tls_cert_file", text, {
    meaning: "Certificate of this process; read again when it changes.",
  }),
  internalTlsKeyFile: setting("INTERNAL_TLS_KEY_FILE", "internal.tls_key_file", text, {
    meaning: "Its private key.",
  }),
  internalMessageBytesMax: setting(
    "INTERNAL_MESSAGE_BYTES_MAX",
    "internal.message_bytes_max",
    wholeNumber(32 * MIB, 1024 * MIB),
    {
      fallback: 512 * MIB,
      meaning:
        "Largest request and largest response between a gateway and a storage node, largest memory for the rows of one such response, and for all incomplete requests; must be the same everywhere.",
    },
  ),
  internalConnectionBytesMax: setting("INTERNAL_CONNECTION_BYTES_MAX", "internal.connection_bytes_max", BYTES, {
    fallback: 128 * MIB,
    fallbackPart: 1 / 8,
    meaning:
      "Bytes of requests in progress, and of responses not yet sent, after which a storage node reads no more from a connection; each gateway has two.",
  }),
  internalAnswersBytesMax: setting("INTERNAL_ANSWERS_BYTES_MAX", "internal.answers_bytes_max", BYTES, {
    fallback: 1024 * MIB,
    fallbackPart: 1 / 8,
    meaning:
      "Memory for the rows of all responses that a storage node makes at the same time; above it requests get 429.",
  }),
  expectedStorageNodes: setting(
    "CLUSTER_EXPECTED_STORAGE_NODES",
    "cluster.expected_storage_nodes",
    wholeNumber(1, 10_000),
    {
      fallback: 1,
      meaning:
        "Storage nodes that must have registered once before classes can be made and gateways are ready; of the coordinators.",
    },
  ),
  replicationFactor: setting("REPLICATION_FACTOR", "cluster.replication_factor", wholeNumber(1, FACTOR_MAX), {
    fallback: 1,
    meaning:
      "Copies of each object, on different storage nodes, in classes that do not say (`replicationConfig.factor`); of the coordinators.",
  }),
  acceptDataLoss: setting("CLUSTER_ACCEPT_DATA_LOSS", "cluster.accept_data_loss", truth, {
    fallback: false,
    meaning:
      "Whether a storage node, or `serve`, may start with a new folder although it has shards, with empty shards instead of missing ones, without the writes of lost or damaged logs, and with damaged copies: what they lack is lost. For one start.",
  }),
  copyLeaseMilliseconds: setting("COPY_LEASE_MILLISECONDS", "copies.lease_milliseconds", wholeNumber(500, 60_000), {
    fallback: 2_000,
    meaning:
      "How long a copy of a shard may answer after it last heard from the others; one that is silent for so long is taken out, and a primary for 1.5 times as long is replaced. The same on all storage nodes: change it while all are stopped.",
  }),
  journalKeepEntries: setting("JOURNAL_KEEP_ENTRIES", "copies.journal_keep_entries", wholeNumber(0, 1_000_000_000), {
    fallback: 4_000_000,
    meaning:
      "Changes that a shard with copies remembers for copies that are away; one that has missed more gets all rows again.",
  }),
  copyTransferBytesPerSecond: setting(
    "COPY_TRANSFER_BYTES_PER_SECOND",
    "copies.transfer_bytes_per_second",
    wholeNumber(64 * 1024, 1024 * 1024 * MIB),
    {
      fallback: 64 * MIB,
      meaning:
        "Bytes a second that a storage node sends to copies that catch up: rows, and the vector index where all rows are sent. Four copies are filled at once, whatever else is sent goes first.",
    },
  ),
  shardWaitSeconds: setting("SHARD_WAIT_SECONDS", "shard.wait_seconds", wholeNumber(0, 3_600), {
    fallback: 15,
    meaning: "How long a gateway holds requests for the shards of a storage node that announced its restart.",
  }),
  heldRequestBytesMax: setting(
    "HELD_REQUEST_BYTES_MAX",
    "shard.held_request_bytes_max",
    wholeNumber(0, 1024 * 1024 * MIB),
    {
      fallback: 256 * MIB,
      fallbackPart: 1 / 8,
      meaning: "Bytes that held requests would write, all together.",
    },
  ),
  etcdEndpoints: setting("ETCD_ENDPOINTS", "etcd.endpoints", etcdEndpoints, {
    fallback: [],
    fallbackText: "none",
    meaning:
      "etcd of the coordinators: `host:port` or `https://host:port`, separated by commas. Without: a store below PERSISTENCE_DATA_PATH, for one coordinator.",
  }),
  etcdPrefix: setting("ETCD_PREFIX", "etcd.prefix", text, {
    fallback: "/shoal",
    meaning: "Prefix of the keys of this cluster in etcd.",
  }),
  etcdUsername: setting("ETCD_USERNAME", "etcd.username", text, {
    fallback: "",
    meaning: "User of etcd.",
  }),
  etcdPassword: setting("ETCD_PASSWORD", "etcd.password", text, {
    fallback: "",
    isSecret: true,
    meaning: "Password of that user.",
  }),
  etcdCaFile: setting("ETCD_CA_FILE", "etcd.ca_file", text, {
    meaning: "Certificates (PEM) that sign those of etcd.",
  }),
  etcdCertFile: setting("ETCD_CERT_FILE", "etcd.cert_file", text, {
    meaning: "Certificate with which a coordinator authenticates to etcd; read again when it changes.",
  }),
  etcdKeyFile: setting("ETCD_KEY_FILE", "etcd.key_file", text, {
    meaning: "Its private key.",
  }),
} as const;
