import type { HttpClient } from "../src/http-client.js";

export const ARTICLES = 50;

export function articleId(at: number): string {
  return `11111111-1111-4111-8111-${String(at).padStart(12, "0")}`;
}

export function authorId(at: number): string {
  return `22222222-2222-4222-8222-${String(at).padStart(12, "0")}`;
}

const TITLES = [
  "Herring return to the bay",
  "A harbour learns to wait",
  "Why the ferry is late",
  "Shoals from the air",
];

/** Two classes and some objects that refer to each other. */
export async function importNewspaper(http: HttpClient): Promise<void> {
  await good(http, "/v1/schema", {
    class: "Author",
    vectorizer: "none",
    properties: [{ name: "name", dataType: ["string"] }],
  });
  await good(http, "/v1/schema", {
    class: "Article",
    description: "A text that was printed in a newspaper.",
    vectorizer: "none",
    properties: [
      { name: "title", dataType: ["text"], description: "As printed." },
      { name: "wordCount", dataType: ["int"] },
      { name: "published", dataType: ["date"] },
      { name: "place", dataType: ["geoCoordinates"] },
      { name: "keywords", dataType: ["string[]"], description: "Chosen by the desk.", indexInverted: false },
      { name: "hasAuthors", dataType: ["Author"] },
    ],
  });
  for (const [at, name] of ["Ada Lindqvist", "Bo Karlsson"].entries()) {
    await good(http, "/v1/objects", { class: "Author", id: authorId(at), properties: { name }, vector: [1, at] });
  }
  const objects = Array.from({ length: ARTICLES }, (_, at) => {
    const properties = {
      title: `${TITLES[at % TITLES.length]} (${at})`,
      wordCount: at,
      published: "2021-03-01T08:00:00Z",
      place: { latitude: 57.7, longitude: 11.97 },
      keywords: ["sea", "fish", "harbour"].slice(0, 1 + (at % 3)),
      hasAuthors: [{ beacon: `svc://localhost/${authorId(at % 2)}` }],
    };
    return { class: "Article", id: articleId(at), properties, vector: [Math.cos(at), Math.sin(at), 0.5] };
  });
  await good(http, "/v1/batch/objects", { objects });
}

async function good(http: HttpClient, path: string, body: unknown): Promise<void> {
  const answer = await http.post(path, body);
  if (answer.status !== 200 || answer.text.includes('"errors":{'))
    throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
}
