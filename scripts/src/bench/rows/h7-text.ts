import { post } from "../ask.js";
import { OBJECTS_PER_BATCH } from "../bench.js";
import { NO_FIGURES } from "../figures.js";
import { type Measurement, measure, type Target } from "../measure.js";
import type { Row } from "../row.js";
import type { ImportArticlesParameters } from "../workloads/import-articles.js";

const VECTORIZER = "text2vec-contextionary";
/** Made from their texts, ahead of the measured ones: code that is not compiled yet would count as the vectorizer's. */
const EARLY = "EarlyArticle";
/** Made from their texts, and the same articles with those vectors given. */
const MADE = "MadeArticle";
const GIVEN = "GivenArticle";
const WARM_UP_REQUESTS = 20;

/** What the embedded vectorizer costs an import: the same articles with and without the vectors that it makes. */
export const h7Text: Row = {
  id: "H7-text",
  group: "H7-text",
  operation: "batch import of 100, what vectors of texts add",
  target: 150,
  figure: "cpuMicros",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    await using server = await bench.ownServer();
    const target = { url: server.url, pids: [server.pid] };
    for (const className of [EARLY, MADE]) await createClass(target, className, VECTORIZER);
    await createClass(target, GIVEN, "none");
    bench.say("importing articles whose vectors are made of their texts");
    await importArticles(target, { className: EARLY, vectorsOf: null });
    const made = await importArticles(target, { className: MADE, vectorsOf: null });
    bench.say("importing the same articles with vectors");
    const given = await importArticles(target, { className: GIVEN, vectorsOf: EARLY });
    const [madeMicros, givenMicros] = [made.cpuMicros ?? Number.NaN, given.cpuMicros ?? Number.NaN];
    return {
      ...NO_FIGURES,
      cpuMicros: madeMicros - givenMicros,
      residentMb: made.residentMb,
      note: `${Math.round(madeMicros)} µs an article, ${Math.round(givenMicros)} with its vector given`,
    };
  },
};

async function createClass({ url }: Target, className: string, vectorizer: string): Promise<void> {
  const properties = ["title", "body"].map((name) => ({ name, dataType: ["text"] }));
  await post(url, "/v1/schema", { class: className, vectorizer, properties });
}

function importArticles(
  target: Target,
  articles: Pick<ImportArticlesParameters, "className" | "vectorsOf">,
): Promise<Measurement> {
  return measure(target, {
    workload: "import-articles",
    parameters: { ...articles, perBatch: OBJECTS_PER_BATCH, warmUpRequests: WARM_UP_REQUESTS },
    operationsPerRequest: OBJECTS_PER_BATCH,
    untilIdle: true,
  });
}
