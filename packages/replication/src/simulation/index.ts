export { type WrongVariant, WRONG_VARIANTS } from "../wrong-variants.js";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulated-cluster.js";
