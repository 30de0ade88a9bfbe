export type { ProcessOptions } from "./process-options.js";
export { serve } from "./serve.js";
