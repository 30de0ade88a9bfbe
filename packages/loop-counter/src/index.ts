export { LoopCounter } from "./loop-counter.js";
