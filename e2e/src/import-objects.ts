import type { HttpClient } from "./http-client.js";

const BATCH = 500;

/** Stores objects in batches. Fails when one of them is not stored. */
export async function importObjects(http: HttpClient, objects: readonly object[]): Promise<void> {
  for (let from = 0; from < objects.length; from += BATCH) {
    const answer = await http.post("/v1/batch/objects", { objects: objects.slice(from, from + BATCH) });
    if (answer.status !== 200 || answer.text.includes('"errors":{')) throw new Error(answer.text.slice(0, 500));
  }
}
