export { SPELLCHECK_MODULE } from "./spellcheck-module.js";
