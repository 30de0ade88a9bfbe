export { createGateway, type Gateway, type GatewayDependencies, type GatewaySettings } from "./create-gateway.js";
export { createPages, type PagesParts } from "./pages/create-pages.js";
