export { shrink } from "./simulation/shrink.js";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulation/simulated-cluster.js";
export { WRONG_VARIANTS, type WrongVariant } from "./wrong-variants.js";
