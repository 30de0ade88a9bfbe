import { serveThread } from "@shoal/inference";

serveThread(async () => {
  const { Spelling } = await import("./spelling.js");
  const spelling = new Spelling();
  return (texts: readonly string[]) => spelling.changes(texts);
});
