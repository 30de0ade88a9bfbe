import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { ServerProcess } from "../server-process.js";
import { CONTROL_CLASS, ControlClass } from "./control-class.js";
import { commonChecks, type FuzzExtent, type FuzzedRequest, type FuzzReport, FuzzRun, figuresOf } from "./fuzz-run.js";
import { createGraphqlClasses } from "./graphql-classes.js";
import { GraphqlGrammar } from "./graphql-grammar.js";
import { GraphqlQueries, QUERY_PARTS } from "./graphql-queries.js";
import { GraphqlRequests } from "./graphql-requests.js";
import { GraphqlValues } from "./graphql-values.js";
import { KnownNames } from "./known-names.js";
import { StallWatch } from "./stall-watch.js";

const CONNECTIONS = 8;
const CLASSES_MAX = 10;

/** Asks a server of its own valid and broken queries for `seconds`, while objects and classes change. */
export async function fuzzGraphql(seed: number, extent: FuzzExtent, say: (line: string) => void): Promise<FuzzReport> {
  const profile = seed % 2 === 0 ? "spec" : "weaviate";
  await using server = await ServerProcess.start({
    env: { WIRE_PROFILE: profile, LOG_FORMAT: "json", LOG_LEVEL: "info" },
  });
  const setUp = seededRandom(seed);
  const names = new KnownNames(setUp);
  const control = await ControlClass.create(server.http, setUp);
  await createGraphqlClasses(server.http, names, setUp);
  const grammar = new GraphqlGrammar();
  const refresh = async (): Promise<void> => {
    await names.refresh(server.http, new Set([CONTROL_CLASS]), CLASSES_MAX);
    await grammar.refresh(server.http);
  };
  await refresh();
  const run = new FuzzRun(server, say);
  using stalls = new StallWatch(server, extent.stallMs, (line) => run.requestsAt(line));
  const until = performance.now() + extent.seconds * 1_000;
  const streams = Array.from({ length: CONNECTIONS }, (_, at) => {
    const chance = seededRandom(seed + 1 + at);
    return run.drive(requestsOf(grammar, names, chance), chance, until);
  });
  await Promise.all([...streams, run.watch(refresh, until)]);
  stalls.stop();
  const never = [...QUERY_PARTS, "graphql", "batch", "write"].filter((part) => !run.hasSucceeded(part));
  const checks = new Map<string, readonly string[]>([
    ["every answer has its shape, and is no 500", run.complaints],
    ["everything that can be asked was answered with success", never],
    ...(await commonChecks(run, stalls, control)),
  ]);
  for (const [kind, count] of run.unavailable) say(`  ${count} times ${kind}`);
  return { figures: { "wire profile": profile, ...figuresOf(run, stalls) }, checks };
}

function requestsOf(grammar: GraphqlGrammar, names: KnownNames, chance: SeededRandom): () => FuzzedRequest {
  const values = new GraphqlValues(grammar, names, chance);
  const requests = new GraphqlRequests(new GraphqlQueries(grammar, values, chance), names, chance);
  return () => requests.next();
}
