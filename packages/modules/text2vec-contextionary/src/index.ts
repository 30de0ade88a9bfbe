export { CONTEXTIONARY_MODULE } from "./contextionary-module.js";
export { startContextionary } from "./start-contextionary.js";
