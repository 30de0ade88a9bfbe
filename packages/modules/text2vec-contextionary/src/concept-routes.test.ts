import { expect, it } from "vitest";
import { extensionStorageRoutes } from "./concept-routes.js";
import { StoredExtensions } from "./stored-extensions.js";
import { MemoryExtensions } from "./testing/memory-extensions.js";

it("S11: stores nothing that could not be given out again, with all the others", async () => {
  const extensions = new StoredExtensions(new MemoryExtensions());
  const [route] = extensionStorageRoutes(extensions);
  const put = (concept: string, body: string) =>
    route?.handle("PUT", concept, Buffer.from(body), { deadline: Number.POSITIVE_INFINITY });
  await put("cat", '{"concept":"cat"}');
  await expect(put("dog", "[".repeat(50_000) + "]".repeat(50_000))).rejects.toMatchObject({
    code: "malformed",
    message: "a stored extension must not be nested deeper than 200 levels",
  });
  expect(extensions.allStored).toEqual([{ concept: "cat" }]);
});
