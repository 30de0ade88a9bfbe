import type { HttpClient } from "../http-client.js";

/** Where text2vec-contextionary has its routes. */
export const CONTEXTIONARY_ROUTES = "/v1/modules/text2vec-contextionary";

/** Teaches the contextionary of a server a concept. */
export async function teach(http: HttpClient, concept: string, definition: string): Promise<void> {
  const answer = await http.post(`${CONTEXTIONARY_ROUTES}/extensions`, { concept, definition, weight: 1 });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
}
