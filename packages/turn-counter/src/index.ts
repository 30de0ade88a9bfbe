export { TurnCounter } from "./turn-counter.js";
