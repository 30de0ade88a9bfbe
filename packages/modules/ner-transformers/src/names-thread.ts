import { serveThread } from "@shoal/inference";

serveThread(async () => (await import("./names-of.js")).namesOf);
