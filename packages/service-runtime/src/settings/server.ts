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
  host: setting("HOST", "host", hostName, {
    fallback: "127.0.0.1",
    meaning: "Address to listen on.",
  }),
  port: setting("PORT", "port", wholeNumber(0, 65_535), {
    fallback: 8080,
    meaning: "Port to listen on; 0 takes a free one.",
  }),
  dataPath: setting("PERSISTENCE_DATA_PATH", "persistence.dataPath", text, {
    fallback: "./data",
    meaning: "Folder that holds all data.",
  }),
  origin: setting("ORIGIN", "origin", originPrefix, {
    fallback: "",
    meaning: "Prefix of links in responses, e.g. https://db.example.com.",
  }),
  corsAllowOrigin: setting("CORS_ALLOW_ORIGIN", "cors.allow_origin", origins, {
    fallback: [],
    fallbackText: "none",
    meaning:
      "Origins whose pages may use the server from a browser, separated by commas, e.g. https://app.example.com; * for any page. Its own pages may always.",
  }),
  allowedHosts: setting("ALLOWED_HOSTS", "allowed_hosts", hostNames, {
    fallback: [],
    fallbackText: "none",
    meaning:
      "Host names that the server accepts (Host header, any port) besides those of this machine and that of ORIGIN, separated by commas; * for any. Where HOST is not a loopback address, any name is accepted while this is not set, and an IP address always.",
  }),
  allowAnonymousRemote: setting("ALLOW_ANONYMOUS_REMOTE", "allow_anonymous_remote", truth, {
    fallback: false,
    meaning: "Other machines may use the server without authentication on purpose: no warning at the start.",
  }),
  tlsCertFile: setting("TLS_CERT_FILE", "tls.cert_file", text, {
    meaning:
      "Certificate (PEM, with those between it and its root) of PORT, which then speaks https only; read again when it changes.",
  }),
  tlsKeyFile: setting("TLS_KEY_FILE", "tls.key_file", text, {
    meaning: "Its private key (PEM).",
  }),
  nodeName: setting("CLUSTER_HOSTNAME", "cluster.hostname", hostName, {
    fallbackText: "the host's name",
    meaning: "Name of this node.",
  }),
  wireProfile: setting("WIRE_PROFILE", "wire_profile", oneOf("spec", "weaviate"), {
    fallback: "weaviate",
    meaning:
      "Wire form where specification and existing clients differ: weaviate for clients in the field, spec to the letter.",
  }),
  logLevel: setting("LOG_LEVEL", "log.level", oneOf("trace", "debug", "info", "warning", "warn", "error", "fatal"), {
    fallback: "info",
    meaning: "Least severe log line that is written.",
  }),
  logFormat: setting("LOG_FORMAT", "log.format", oneOf("json", "text"), {
    fallback: "json",
    meaning: "One JSON object per line, or text.",
  }),
  debug: setting("LOG_DEBUG", "debug", truth, {
    fallback: false,
    meaning: "The same as LOG_LEVEL=debug where no level is set.",
  }),
  auditLog: setting("AUDIT_LOG", "audit_log", auditTarget, {
    fallback: "off",
    meaning:
      "Where the audit log goes, one line of JSON per event: off, stdout, or the path of a file, with a slash in it.",
  }),
  metricsPort: setting("METRICS_PORT", "metrics.port", wholeNumber(0, 65_535), {
    meaning: "Port of metrics and probes for the operator's own machines, without authentication; 0 takes a free one.",
  }),
  metricsHost: setting("METRICS_HOST", "metrics.host", hostName, {
    fallback: "127.0.0.1",
    meaning: "Address that METRICS_PORT listens on.",
  }),
  configurationName: setting("CONFIGURATION_NAME", "name", text, {
    fallback: "",
    meaning: "Name of this configuration, written to the log at the start.",
  }),
} as const;
