export { ComputeThread } from "./compute-thread.js";
export { InferenceContainer } from "./inference-container.js";
export { mapConcurrently } from "./map-concurrently.js";
export { Projector } from "./projection/projector.js";
export { serveThread } from "./thread-server.js";
