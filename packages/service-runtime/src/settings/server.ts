import { setting } from "../setting.js";
import { hostName, oneOf, originPrefix, text, truth, wholeNumber } from "../setting-parsers.js";

/** Where the server is, and what it says about itself. */
export const SERVER_SETTINGS = {
  host: setting("HOST", "host", "127.0.0.1", "Address to listen on.", hostName),
  port: setting("PORT", "port", 8080, "Port to listen on; 0 takes a free one.", wholeNumber(0, 65_535)),
  dataPath: setting("PERSISTENCE_DATA_PATH", "persistence.dataPath", "./data", "Folder that holds all data.", text),
  origin: setting("ORIGIN", "origin", "", "Prefix of links in answers, e.g. https://db.example.com.", originPrefix),
  nodeName: {
    ...setting<string | undefined>("CLUSTER_HOSTNAME", "cluster.hostname", undefined, "Name of this node.", hostName),
    fallbackText: "the host's name",
  },
  wireProfile: setting(
    "WIRE_PROFILE",
    "wire_profile",
    "spec",
    "Wire form where specification and existing clients differ; weaviate for clients in the field.",
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
