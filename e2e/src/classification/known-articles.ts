import { articlesOfTopics } from "@shoal/data-sets";
import type { HttpClient } from "../http-client.js";
import { importObjects } from "../import-objects.js";
import { randomId } from "../random-objects.js";

/** Topics and what they are about, in words of the time. */
export const TOPICS = new Map([
  ["earn", "profit loss earnings dividend quarter shares net cts"],
  ["acq", "acquisition merger takeover stake company buy"],
  ["crude", "crude oil barrels petroleum opec"],
  ["coffee", "coffee beans exports quota"],
  ["interest", "interest rate prime lending banks cut"],
  ["gold", "gold ounces ore mine"],
]);

const VECTORIZER = "text2vec-contextionary";

export interface KnownArticles {
  readonly topics: readonly { readonly id: string; readonly about: string }[];
  readonly articles: readonly { readonly id: string; readonly body: string }[];
}

/** Topics, and so many Reuters articles on them; ids are random. */
export function knownArticles(random: () => number, count: number): KnownArticles {
  return {
    topics: Array.from(TOPICS.values(), (about) => ({ id: randomId(random), about })),
    articles: articlesOfTopics([...TOPICS.keys()])
      .slice(0, count)
      .map(({ body }) => ({ id: randomId(random), body })),
  };
}

/** Makes the classes Topic and Article, which have the vectors of text2vec-contextionary, and imports everything, unlabelled. */
export async function importArticles(http: HttpClient, { topics, articles }: KnownArticles): Promise<void> {
  const settings = { vectorizer: VECTORIZER, moduleConfig: { [VECTORIZER]: { vectorizeClassName: false } } };
  await http.post("/v1/schema", { class: "Topic", ...settings, properties: [{ name: "about", dataType: ["text"] }] });
  const properties = [
    { name: "body", dataType: ["text"] },
    { name: "label", dataType: ["Topic"] },
  ];
  await http.post("/v1/schema", { class: "Article", ...settings, properties });
  await importObjects(
    http,
    topics.map(({ id, about }) => ({ class: "Topic", id, properties: { about } })),
  );
  await importObjects(
    http,
    articles.map(({ id, body }) => ({ class: "Article", id, properties: { body } })),
  );
}
