export { TRANSFORMERS_MODULE } from "./transformers-module.js";
