export type { AccessControl } from "./auth/access.js";
export { type ApiKeySource, ApiKeyTable, type HeldApiKey } from "./auth/api-keys.js";
export { createAccessControl } from "./auth/create-access-control.js";
export { createGateway, type Gateway, type GatewayDependencies, type GatewaySettings } from "./create-gateway.js";
export type { ServerCertificate, ServerCertificateSource } from "./http/http-server-settings.js";
export { createPages, type PagesParts } from "./pages/create-pages.js";
export type { PageFile } from "./pages/page-file.js";
export { REGISTERED_MODULES, startContextionary } from "./registered-modules.js";
