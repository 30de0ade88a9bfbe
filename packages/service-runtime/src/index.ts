export type { AdminListConfiguration, AuthenticationConfiguration, OidcConfiguration } from "./authentication.js";
export { type Clock, systemClock } from "./clock.js";
export { type Configuration, readConfiguration } from "./configuration.js";
export { createLogger, type Logger, type LogSink, silentLogger } from "./logger.js";
export { ResourceScope } from "./resource-scope.js";
export { EXIT_FAILURE, EXIT_FORCED, EXIT_OK, type ProcessHost, runProcess, type Service } from "./run-process.js";
export { environmentSource, type Setting, type SettingSource } from "./setting.js";
export { SETTING_GROUPS, SETTINGS, type SettingGroup } from "./setting-groups.js";
