export { type AccessControl, OPEN_ACCESS } from "./auth/access.js";
export { createGateway, type Gateway, type GatewayDependencies, type GatewaySettings } from "./create-gateway.js";
