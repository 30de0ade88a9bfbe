import { setTimeout as sleep } from "node:timers/promises";
import { articlesOfTopics } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { ask, post } from "../bench/ask.js";
import { rowId } from "../bench/bench-class.js";
import { ProgressBar } from "./progress-bar.js";
import type { Terminal } from "./terminal.js";

/** What the articles are about, as Reuters calls it and in plain words. */
const TOPICS = new Map([
  ["earn", "earnings"],
  ["acq", "acquisitions"],
  ["crude", "crude oil"],
  ["trade", "foreign trade"],
  ["money-fx", "currencies"],
  ["interest", "interest rates"],
  ["coffee", "coffee"],
  ["gold", "gold"],
]);

export const NEWS_CLASSES = ["Article", "Topic"] as const;
export const NEWS_ARTICLES = 4_000;
/** Of so many articles one has no topic and gets one. */
const EACH = 4;
const PER_BATCH = 100;
const POLL_MS = 50;
const TIMEOUT_MS = 300_000;
const ACCURACY_MIN = 0.75;

/**
 * News against a server that is ready: articles get vectors from their text, are found by meaning, and those without a
 * topic get that of their neighbours. Errors: any answer that is not what it must be, or topics that are mostly wrong.
 */
export async function runNewsDemo(url: URL, terminal: Terminal, count = NEWS_ARTICLES): Promise<void> {
  const articles = articlesOfTopics([...TOPICS.keys()]).slice(0, count);
  await importArticles(url, terminal, articles);
  await showNearText(url, terminal);
  const items = Math.floor(articles.length / EACH);
  await classify(url, terminal, items);
  await showTopics(url, terminal, articles);
}

type Articles = ReturnType<typeof articlesOfTopics>;

function topicId(topic: string): string {
  return rowId("glove", 1_000_000 + [...TOPICS.keys()].indexOf(topic));
}

function articleId(at: number): string {
  return rowId("regions", at);
}

function isOpen(at: number): boolean {
  return at % EACH === EACH - 1;
}

async function importArticles(url: URL, terminal: Terminal, articles: Articles): Promise<void> {
  terminal.line(terminal.style("bold", `\nImporting ${articles.length.toLocaleString("en")} articles of 1987`));
  terminal.line(
    terminal.style("dim", "  vectors are made of their words; the first time the word vectors are unpacked"),
  );
  await post(url, "/v1/schema", {
    ...{ class: "Topic", vectorizer: "none", vectorIndexConfig: { skip: true } },
    properties: [{ name: "name", dataType: ["string"] }],
  });
  const properties = [
    { name: "title", dataType: ["text"] },
    { name: "body", dataType: ["text"] },
    { name: "ofTopic", dataType: ["Topic"] },
  ];
  await post(url, "/v1/schema", { class: "Article", vectorizer: "text2vec-contextionary", properties });
  const topics = Array.from(TOPICS, ([topic, name]) => ({ class: "Topic", id: topicId(topic), properties: { name } }));
  await post(url, "/v1/batch/objects", { objects: topics });
  const bar = new ProgressBar(terminal, articles.length, "articles");
  for (let from = 0; from < articles.length; from += PER_BATCH) {
    const objects = articles.slice(from, from + PER_BATCH).map(({ title, body, topic }, i) => {
      const ofTopic = isOpen(from + i) ? {} : { ofTopic: [{ beacon: `svc://localhost/${topicId(topic)}` }] };
      return { class: "Article", id: articleId(from + i), properties: { title, body, ...ofTopic } };
    });
    await post(url, "/v1/batch/objects", { objects });
    bar.update(Math.min(articles.length, from + PER_BATCH));
  }
}

async function showNearText(url: URL, terminal: Terminal): Promise<void> {
  terminal.line(terminal.style("bold", '\nnearText "metal", as it is and moved towards "gold mine"'));
  const move = '{ concepts: ["gold mine"], force: 0.7 }';
  for (const [label, moved] of [
    ["metal", ""],
    ["metal → gold mine", `, moveTo: ${move}`],
  ] as const) {
    const near = `nearText: { concepts: ["metal"]${moved} }, limit: 3`;
    const data = await graphql(url, `{ Get { Article(${near}) { title _additional { certainty } } } }`);
    for (const { title, _additional } of data.Get.Article as readonly NearArticle[]) {
      const certainty = terminal.style("dim", _additional.certainty.toFixed(3));
      terminal.line(`  ${terminal.style("cyan", label.padEnd(18))} ${certainty} ${title}`);
    }
  }
}

interface NearArticle {
  readonly title: string;
  readonly _additional: { readonly certainty: number };
}

async function classify(url: URL, terminal: Terminal, items: number): Promise<void> {
  terminal.line(
    terminal.style("bold", `\nknn classification of ${items.toLocaleString("en")} articles without a topic`),
  );
  const started = await send(url, "/v1/classifications", {
    ...{ type: "knn", class: "Article", classifyProperties: ["ofTopic"], basedOnProperties: ["body"] },
    settings: { k: 5 },
  });
  const bar = new ProgressBar(terminal, items, "articles");
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    await sleep(POLL_MS);
    const answer = await ask(url, `/v1/classifications/${String(started.id)}`);
    const { status, error } = (await answer.json()) as { readonly status: string; readonly error?: string };
    bar.update(items - (await openArticles(url)));
    if (status === "completed") return;
    if (status === "failed") throw new ShoalError("internal", `${error}`);
  }
  throw new ShoalError("deadlineExceeded", `the classification still runs after ${TIMEOUT_MS / 1000} s`);
}

async function openArticles(url: URL): Promise<number> {
  const where = '{ path: ["ofTopic"], operator: Equal, valueInt: 0 }';
  const data = await graphql(url, `{ Aggregate { Article(where: ${where}) { meta { count } } } }`);
  const [found] = data.Aggregate.Article as readonly { readonly meta: { readonly count: number } }[];
  return found?.meta.count ?? 0;
}

async function showTopics(url: URL, terminal: Terminal, articles: Articles): Promise<void> {
  const right = new Map<string, number>();
  const all = new Map<string, number>();
  for (const [at, { topic }] of articles.entries()) {
    if (!isOpen(at)) continue;
    const answer = await ask(url, `/v1/objects/${articleId(at)}`);
    const { properties } = (await answer.json()) as {
      readonly properties: { readonly ofTopic?: readonly { readonly beacon: string }[] };
    };
    all.set(topic, 1 + (all.get(topic) ?? 0));
    if (properties.ofTopic?.[0]?.beacon.endsWith(topicId(topic))) right.set(topic, 1 + (right.get(topic) ?? 0));
  }
  terminal.line(`\n  ${"topic".padEnd(16)} ${"articles".padStart(8)} ${"right".padStart(8)}`);
  for (const [topic, name] of TOPICS) {
    const [count, good] = [all.get(topic) ?? 0, right.get(topic) ?? 0];
    const share = count === 0 ? "–" : `${Math.round((100 * good) / count)} %`;
    terminal.line(`  ${terminal.style("cyan", name.padEnd(16))} ${String(count).padStart(8)} ${share.padStart(8)}`);
  }
  const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, one) => total + one, 0);
  const accuracy = sum(right) / sum(all);
  terminal.line(`  ${terminal.style("green", `${(100 * accuracy).toFixed(1)} %`)} as Reuters' editors had it`);
  if (accuracy < ACCURACY_MIN) throw new ShoalError("internal", `only ${(100 * accuracy).toFixed(1)} % are right`);
}

async function send(url: URL, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const headers = { "content-type": "application/json" };
  const answer = await ask(url, path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new ShoalError("internal", `POST ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

interface GraphQlData {
  readonly Get: Readonly<Record<string, unknown>>;
  readonly Aggregate: Readonly<Record<string, unknown>>;
}

async function graphql(url: URL, query: string): Promise<GraphQlData> {
  const { data, errors } = await send(url, "/v1/graphql", { query });
  if (errors) throw new ShoalError("internal", `${query}: ${JSON.stringify(errors)}`);
  return data as GraphQlData;
}
