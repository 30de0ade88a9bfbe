export { serve } from "./serve.js";
export type { ServeOptions } from "./serve-options.js";
