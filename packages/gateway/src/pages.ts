export { createPages, type PagesParts } from "./pages/create-pages.js";
