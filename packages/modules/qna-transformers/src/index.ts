export { QNA_MODULE } from "./qna-module.js";
