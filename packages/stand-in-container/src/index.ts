export { type Asked, type Failure, type Paths, StandInContainer } from "./stand-in-container.js";
