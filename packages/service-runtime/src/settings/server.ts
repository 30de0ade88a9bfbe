import { setting } from "../setting.js";
import {
  auditTarget,
  hostName,
  hostNames,
  oneOf,
  originPrefix,
  origins,
  text,
  truth,
  wholeNumber,
} from "../setting-parsers.js";

/** Where the server is, and what it says about itself. */
export const SERVER_SETTINGS = {
  host: setting("HOST", "host", "127.0.0.1", "Address to listen on.", hostName),
  port: setting("PORT", "port", 8080, "Port to listen on; 0 takes a free one.", wholeNumber(0, 65_535)),
  dataPath: setting("PERSISTENCE_DATA_PATH", "persistence.dataPath", "./data", "Folder that holds all data.", text),
  origin: setting("ORIGIN", "origin", "", "Prefix of links in answers, e.g. https://db.example.com.", originPrefix),
  corsAllowOrigin: {
    ...setting<readonly string[]>(
      "CORS_ALLOW_ORIGIN",
      "cors.allow_origin",
      [],
      "Origins whose pages may use the server from a browser, separated by commas, e.g. https://app.example.com; * for any page. Its own pages may always.",
      origins,
    ),
    fallbackText: "none",
  },
  allowedHosts: {
    ...setting<readonly string[]>(
      "ALLOWED_HOSTS",
      "allowed_hosts",
      [],
      "Names by which the server is called (Host header, any port) beside those of this machine and that of ORIGIN, separated by commas; * for any. Where HOST is not of this machine alone, any name will do while this is not set, and an IP address always.",
      hostNames,
    ),
    fallbackText: "none",
  },
  allowAnonymousRemote: setting(
    "ALLOW_ANONYMOUS_REMOTE",
    "allow_anonymous_remote",
    false,
    "That other machines may use the server without authentication is meant: no warning at the start.",
    truth,
  ),
  tlsCertFile: {
    ...setting<string | undefined>(
      "TLS_CERT_FILE",
      "tls.cert_file",
      undefined,
      "Certificate (PEM, with those between it and its root) of PORT, which then speaks https only; read again when it changes.",
      text,
    ),
    fallbackText: "none",
  },
  tlsKeyFile: {
    ...setting<string | undefined>("TLS_KEY_FILE", "tls.key_file", undefined, "Its private key (PEM).", text),
    fallbackText: "none",
  },
  nodeName: {
    ...setting<string | undefined>("CLUSTER_HOSTNAME", "cluster.hostname", undefined, "Name of this node.", hostName),
    fallbackText: "the host's name",
  },
  wireProfile: setting(
    "WIRE_PROFILE",
    "wire_profile",
    "weaviate",
    "Wire form where specification and existing clients differ: weaviate for clients in the field, spec to the letter.",
    oneOf("spec", "weaviate"),
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "log.level",
    "info",
    "Least severe log line that is written.",
    oneOf("trace", "debug", "info", "warning", "warn", "error", "fatal"),
  ),
  logFormat: setting("LOG_FORMAT", "log.format", "json", "One JSON object a line, or text.", oneOf("json", "text")),
  debug: setting("LOG_DEBUG", "debug", false, "The same as LOG_LEVEL=debug where no level is set.", truth),
  auditLog: setting(
    "AUDIT_LOG",
    "audit_log",
    "off",
    "Where the audit log goes, one line of JSON an event: off, stdout, or the path of a file, with a slash in it.",
    auditTarget,
  ),
  metricsPort: {
    ...setting<number | undefined>(
      "METRICS_PORT",
      "metrics.port",
      undefined,
      "Port of metrics and probes for the operator's own machines, without authentication; 0 takes a free one.",
      wholeNumber(0, 65_535),
    ),
    fallbackText: "none",
  },
  metricsHost: setting("METRICS_HOST", "metrics.host", "127.0.0.1", "Address that METRICS_PORT listens on.", hostName),
  configurationName: setting(
    "CONFIGURATION_NAME",
    "name",
    "",
    "Name of this configuration, written to the log at the start.",
    text,
  ),
} as const;
