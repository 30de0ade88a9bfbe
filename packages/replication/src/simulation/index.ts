export { WRONG_VARIANTS, type WrongVariant } from "../wrong-variants.js";
export { shrink } from "./shrink.js";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulated-cluster.js";
