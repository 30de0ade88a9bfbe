export { digestOfKey, parseApiKeyFile, refuseSharedKeys } from "./api-keys.js";
export type {
  AdminListConfiguration,
  AllowedApiKey,
  ApiKeyConfiguration,
  AuthenticationConfiguration,
  OidcConfiguration,
} from "./authentication.js";
export { type Clock, systemClock } from "./clock.js";
export { type Configuration, readConfiguration } from "./configuration.js";
export { configurationFileSource } from "./configuration-file.js";
export { describeDefault } from "./describe-default.js";
export { type ForeignPageSettings, ForeignPages } from "./foreign-pages.js";
export { type InternalRoute, InternalServer, metricsRoute, probeRoute } from "./internal-server.js";
export { type InternalTlsFiles, internalTlsFiles } from "./internal-tls.js";
export { RateLimitedLogger } from "./log-rate.js";
export { createLogger, type Logger, type LogLevel, type LogSink, silentLogger } from "./logger.js";
export { isLoopback } from "./loopback.js";
export { type MemoryLimit, memoryLimit } from "./memory-limit.js";
export type { HistogramSample, Labels, MetricDescription, Metrics, Sample } from "./metrics.js";
export { refuseMisspelledVariables } from "./misspelled-variables.js";
export type { RolesConfiguration } from "./read-roles.js";
export { isSecret, redactText } from "./redact.js";
export { ResourceScope } from "./resource-scope.js";
export { EXIT_FAILURE, EXIT_FORCED, EXIT_OK, type ProcessHost, runProcess, type Service } from "./run-process.js";
export { environmentSource, type Setting, type SettingSource } from "./setting.js";
export { PLAIN_SETTINGS, SETTING_GROUPS, SETTINGS, type SettingGroup } from "./setting-groups.js";
export { readersOf, SERVICE_COMMANDS, type ServiceCommand } from "./setting-readers.js";
export { UNBUILT_VARIABLES, warnOfUnbuiltVariables } from "./unbuilt-variables.js";
export { usedMemory } from "./used-memory.js";
