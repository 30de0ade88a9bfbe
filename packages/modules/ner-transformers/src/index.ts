export { NER_MODULE } from "./ner-module.js";
