export { createGateway, type Gateway, type GatewayDependencies, type GatewaySettings } from "./create-gateway.js";
