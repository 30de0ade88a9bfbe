export { IMAGE_MODULE } from "./image-module.js";
