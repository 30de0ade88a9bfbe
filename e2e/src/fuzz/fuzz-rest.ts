import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import type { HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";
import { ApiDocument, type ApiOperation } from "./api-document.js";
import { CLASSIFIED_CLASSES, createClassification } from "./classified-class.js";
import { CONTROL_CLASS, ControlClass } from "./control-class.js";
import { commonChecks, type FuzzExtent, type FuzzedRequest, type FuzzReport, FuzzRun, figuresOf } from "./fuzz-run.js";
import { DATA_TYPES, KnownNames, PROPERTY_NAMES } from "./known-names.js";
import { makeRequest } from "./make-request.js";
import { StallWatch } from "./stall-watch.js";
import { ValidValues } from "./valid-values.js";
import { complaint } from "./verdict.js";

const CONNECTIONS = 8;
/** Each class has stores of its own: more would be a test of memory, not of requests. */
const CLASSES_MAX = 14;
/** Classes that no odd request is to know of. */
const KEPT: ReadonlySet<string> = new Set([CONTROL_CLASS, ...CLASSIFIED_CLASSES]);

/** Drives every operation of a server of its own. */
export async function fuzzRest(seed: number, extent: FuzzExtent, say: (line: string) => void): Promise<FuzzReport> {
  const profile = seed % 2 === 0 ? "spec" : "weaviate";
  await using server = await ServerProcess.start({
    env: {
      WIRE_PROFILE: profile,
      REQUEST_BODY_BYTES_MAX: String(16 * 1024 * 1024),
      LOG_FORMAT: "json",
      LOG_LEVEL: "info",
    },
  });
  const setUp = seededRandom(seed);
  const { json } = await server.http.get("/v1/openapi.json");
  const document = new ApiDocument(json);
  const names = new KnownNames(setUp);
  const control = await ControlClass.create(server.http, setUp);
  names.classification = await createClassification(server.http, setUp);
  await createClasses(server.http, names, KEPT, CLASSES_MAX);
  const run = new FuzzRun(server, say);
  using stalls = new StallWatch(server, extent.stallMs, (line) => run.requestsAt(line));
  const until = performance.now() + extent.seconds * 1_000;
  const streams = Array.from({ length: CONNECTIONS }, (_, at) => {
    const chance = seededRandom(seed + 1 + at);
    return run.drive(requestsOf(document, names, chance), chance, until);
  });
  const refresh = (): Promise<void> => names.refresh(server.http, KEPT, CLASSES_MAX);
  await Promise.all([...streams, run.watch(refresh, until)]);
  stalls.stop();
  const checks = new Map<string, readonly string[]>([
    ["every answer is documented, has its shape, and is no 500", run.complaints],
    ["every operation was answered with success", neverSuccessful(run, document)],
    ...(await commonChecks(run, stalls, control)),
  ]);
  for (const [kind, count] of run.unavailable) say(`  ${count} times ${kind}`);
  return { figures: { "wire profile": profile, ...figuresOf(run, stalls) }, checks };
}

/** Requests of all operations, by their weights. */
function requestsOf(document: ApiDocument, names: KnownNames, chance: SeededRandom): () => FuzzedRequest {
  const values = new ValidValues(document, names, chance);
  // Most of what is switched off here says no more than that.
  const weighted = weightedOperations(document, ({ statuses }) => statuses.has(501));
  return () => {
    const operation = chance.pick(weighted);
    const request = makeRequest(operation, values, names, chance);
    return {
      name: operation.name,
      request,
      complaint: (outcome) => complaint(operation, request, outcome),
      isSuccess: ({ status }) => status < 400,
    };
  };
}

/** Each as often as it has to say. */
export function weightedOperations(
  { operations }: ApiDocument,
  saysLittle: (operation: ApiOperation) => boolean = () => false,
): readonly ApiOperation[] {
  return operations.flatMap((operation) =>
    new Array<ApiOperation>(saysLittle(operation) ? 1 : weightOf(operation)).fill(operation),
  );
}

function neverSuccessful(run: FuzzRun, document: ApiDocument): readonly string[] {
  const never = document.operations.filter(({ name, statuses }) => {
    const canSucceed = [...statuses].some((status) => status < 400);
    const isOffHere = OFF_HERE.has(name) || statuses.has(501);
    return canSucceed && !run.hasSucceeded(name) && !isOffHere;
  });
  return never.map(({ name, method, path }) => `${name} (${method} ${path})`);
}

/** Classes of every data type to begin with. */
export async function createClasses(
  http: HttpClient,
  names: KnownNames,
  kept: ReadonlySet<string>,
  most: number,
): Promise<void> {
  for (const [at, className] of names.classNames.slice(0, 4).entries()) {
    const properties = PROPERTY_NAMES.map((name, place) => ({
      name,
      dataType: name === "ref" ? ["FuzzA"] : [DATA_TYPES[(place + at * 4) % DATA_TYPES.length]],
    }));
    const shown = properties.filter(({ name }) => name !== "ref" || at > 0);
    await http.post("/v1/schema", { class: className, properties: shown });
  }
  await names.refresh(http, kept, most);
}

/** Operations that cannot succeed on a server with default settings, beside those that are switched off (501). */
const OFF_HERE = new Set(["getOpenIdConfiguration"]);

/** Those with a body have most to read; probes have least. */
function weightOf({ path, body, method, name }: ApiOperation): number {
  if (path.includes(".well-known") || path === "/v1/openapi.json" || name === "deleteClass") return 1;
  return body === undefined ? 4 : method === "POST" || method === "PATCH" ? 10 : 8;
}
