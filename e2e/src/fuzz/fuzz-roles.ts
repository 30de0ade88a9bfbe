import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { type Answer, at, HttpClient } from "../http-client.js";
import { randomVector } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { ApiDocument } from "./api-document.js";
import { CLASSIFIED_CLASS, CLASSIFIED_CLASSES, createClassification } from "./classified-class.js";
import { CONTROL_CLASS, ControlClass } from "./control-class.js";
import { createClasses, weightedOperations } from "./fuzz-rest.js";
import { commonChecks, type FuzzExtent, type FuzzedRequest, type FuzzReport, FuzzRun, figuresOf } from "./fuzz-run.js";
import { KnownNames } from "./known-names.js";
import { makeRequest } from "./make-request.js";
import type { FuzzRequest } from "./odd-requests.js";
import type { RawOutcome } from "./raw-connection.js";
import { actionOf, allows, namedClass, type Permission, randomPermissions } from "./rights.js";
import { StallWatch } from "./stall-watch.js";
import { ValidValues } from "./valid-values.js";
import { complaint } from "./verdict.js";

const CONNECTIONS = 6;
const CLASSES_MAX = 14;
const USERS = 10;
const ROOT_KEY = "key-of-root-0123456789";

/** Named by requests, and nobody has a right to it. */
const HIDDEN_CLASS = "Hidden";
const HIDDEN_OBJECTS = 20;
/** Stands in the objects of the hidden class, and in no request. */
const SECRET = "a secret of its own";

interface User {
  readonly name: string;
  /** Undefined: whoever comes without one. */
  readonly key: string | undefined;
  readonly permissions: readonly Permission[];
}

/**
 * The requests of `fuzzRest`, from users with random rights, on a server with roles: nobody is answered with success where his
 * rights do not reach, and nobody sees anything of a class that nobody may read.
 */
export async function fuzzRoles(seed: number, extent: FuzzExtent, say: (line: string) => void): Promise<FuzzReport> {
  await using server = await ServerProcess.start({ env: ROLES });
  const setUp = seededRandom(seed);
  const root = new KeyedClient(server.url, ROOT_KEY);
  const document = new ApiDocument((await root.get("/v1/openapi.json")).json);
  const names = new KnownNames(setUp);
  const control = await ControlClass.create(root, setUp);
  names.classification = await createClassification(root, setUp);
  await createClasses(root, names, KEPT, CLASSES_MAX);
  const hidden = await createHidden(root, names, setUp);
  const users = await createUsers(root, setUp);
  const run = new FuzzRun(server, say);
  using stalls = new StallWatch(server, extent.stallMs, (line) => run.requestsAt(line));
  const until = performance.now() + extent.seconds * 1_000;
  const allowed = new Set<string>();
  const streams = Array.from({ length: CONNECTIONS }, (_, number) => {
    const chance = seededRandom(seed + 1 + number);
    return run.drive(requestsOf(document, names, users, allowed, chance), chance, until);
  });
  await Promise.all([...streams, run.watch(() => names.refresh(root, KEPT, CLASSES_MAX), until)]);
  stalls.stop();
  const isHidden = (await listHidden(root)) === hidden;
  const checks = new Map<string, readonly string[]>([
    ["every answer is as documented, within the rights of who asks, and no 500", run.complaints],
    ["rights are used, too", allowed.size > 0 ? [] : ["no request succeeded that needs a right"]],
    ["a class that nobody may touch is as before", isHidden ? [] : [`it was ${hidden.slice(0, 500)}`]],
    ...(await commonChecks(run, stalls, control)),
  ]);
  return { figures: { ...figuresOf(run, stalls), "operations that a right was used for": allowed.size }, checks };
}

const ROLES = {
  WIRE_PROFILE: "weaviate",
  REQUEST_BODY_BYTES_MAX: String(16 * 1024 * 1024),
  LOG_FORMAT: "json",
  LOG_LEVEL: "info",
  AUTHENTICATION_APIKEY_ENABLED: "true",
  AUTHENTICATION_APIKEY_ALLOWED_KEYS: ROOT_KEY,
  AUTHENTICATION_APIKEY_USERS: "root",
  AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
  AUTHENTICATION_DB_USERS_ENABLED: "true",
  AUTHORIZATION_RBAC_ENABLED: "true",
  AUTHORIZATION_RBAC_ROOT_USERS: "root",
};

const KEPT: ReadonlySet<string> = new Set([CONTROL_CLASS, HIDDEN_CLASS, ...CLASSIFIED_CLASSES]);

/** Requests that carry a key. */
class KeyedClient extends HttpClient {
  readonly #key: string;

  constructor(url: string, key: string) {
    super(url);
    this.#key = key;
  }

  override send(...[method, path, body, headers]: Parameters<HttpClient["send"]>): Promise<Answer> {
    return super.send(method, path, body, { Authorization: `Bearer ${this.#key}`, ...headers });
  }

  /** Fails unless the answer has that status. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.send(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
}

/** The hidden class, whose ids and name requests may use; what is in it. */
async function createHidden(root: KeyedClient, names: KnownNames, chance: SeededRandom): Promise<string> {
  const ids = names.ids.slice(0, HIDDEN_OBJECTS);
  await root.expect(200, "POST", "/v1/schema", {
    class: HIDDEN_CLASS,
    properties: [{ name: "title", dataType: ["text"] }],
  });
  const objects = ids.map((id) => ({
    class: HIDDEN_CLASS,
    id,
    properties: { title: SECRET },
    vector: randomVector(chance.next, 3),
  }));
  await root.expect(200, "POST", "/v1/batch/objects", { objects });
  names.classNames.push(HIDDEN_CLASS, HIDDEN_CLASS);
  return listHidden(root);
}

async function listHidden(root: KeyedClient): Promise<string> {
  const path = `/v1/objects?class=${HIDDEN_CLASS}&limit=100&include=vector&after=`;
  return (await root.expect(200, "GET", path)).text;
}

async function createUsers(root: KeyedClient, chance: SeededRandom): Promise<readonly User[]> {
  const users: User[] = [{ name: "anonymous", key: undefined, permissions: [] }];
  for (let number = 0; number < USERS; number++) {
    const name = `user${number}`;
    const permissions = randomPermissions(chance);
    await root.expect(201, "POST", "/v1/authz/roles", { name, permissions });
    const { json } = await root.expect(201, "POST", `/v1/users/db/${name}`, {});
    await root.expect(200, "POST", `/v1/authz/users/${name}/assign`, { roles: [name], userType: "db" });
    users.push({ name, key: String(at(json, "apikey")), permissions });
  }
  return users;
}

/** `allowed`: names of operations that have succeeded by a right. */
function requestsOf(
  document: ApiDocument,
  names: KnownNames,
  users: readonly User[],
  allowed: Set<string>,
  chance: SeededRandom,
): () => FuzzedRequest {
  const values = new ValidValues(document, names, chance);
  const weighted = weightedOperations(document);
  return () => {
    const operation = chance.pick(weighted);
    const user = chance.pick(users);
    const request = makeRequest(operation, values, names, chance);
    if (user.key !== undefined) request.headers.push(["Authorization", `Bearer ${user.key}`]);
    return {
      name: operation.name,
      request,
      complaint: (outcome) =>
        complaint(operation, request, outcome) ??
        trespass(operation.path, request, user, outcome, () => allowed.add(operation.name)),
      isSuccess: ({ status }) => status < 400,
    };
  };
}

/** What an answer says of a right that the user does not have; undefined when nothing is. */
function trespass(
  path: string,
  request: FuzzRequest,
  user: User,
  outcome: RawOutcome,
  onAllowed: () => void,
): string | undefined {
  if (typeof outcome === "string") return undefined;
  const who = `${user.name} (${JSON.stringify(user.permissions)})`;
  if (outcome.body.includes(SECRET)) return `${who} sees what nobody may see`;
  if (outcome.status >= 300 || request.isOddTransport) return undefined;
  const action = actionOf(request.method, path);
  if (action === undefined) return undefined;
  const className = path.includes("/classification") ? classified(request) : namedClass(path, request);
  if (
    allows(
      user.permissions,
      action,
      action.endsWith("_data") || action.endsWith("_collections") ? className : undefined,
    )
  ) {
    onAllowed();
    return undefined;
  }
  return `${who} is answered with ${outcome.status}, without ${action} on ${className ?? "anything"}`;
}

/** The one classification that there is at the beginning is about a class that nobody may touch. */
function classified(request: FuzzRequest): string | undefined {
  return request.method === "GET" ? CLASSIFIED_CLASS : namedClass("", request);
}
