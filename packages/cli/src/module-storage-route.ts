import { createHash, timingSafeEqual } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { type AuditLog, auditInternalRequest } from "@shoal/gateway";
import { ShoalError } from "@shoal/model";
import type { EnabledModules, ModuleResponse } from "@shoal/module-api";
import type { Clock, Configuration, InternalRoute } from "@shoal/service-runtime";

const PATH = "/v1/modules/";
const RESPONSE_MS = 30_000;
const BODY_BYTES_MAX = 64 * 1024;

type StorageSettings = Pick<Configuration, "contextionaryUrl" | "contextionaryStorageSecret" | "metricsPort">;

/** Why contextionaries cannot keep here what they are taught, or why the secret is for nobody; undefined: all is well. */
export function storageFault(settings: StorageSettings): string | undefined {
  const { contextionaryUrl, contextionaryStorageSecret: secret, metricsPort } = settings;
  if (contextionaryUrl === undefined) {
    if (secret === undefined) return undefined;
    return "CONTEXTIONARY_STORAGE_SECRET is not used: CONTEXTIONARY_URL names no contextionary";
  }
  const what = "the contextionary at CONTEXTIONARY_URL cannot keep in this cluster what it is taught";
  if (secret === undefined)
    return `${what}: CONTEXTIONARY_STORAGE_SECRET is not set (one with a store of its own needs none)`;
  return metricsPort === undefined ? `${what}: METRICS_PORT is not set` : undefined;
}

/**
 * The internal routes of modules, once these are there: below `/v1/modules/<name>/`, for whoever presents the secret. Refusals and
 * writes are in the audit log, once it is there. None unless a remote contextionary and a secret are set: nobody else has
 * anything to store.
 */
export function moduleStorageRoutes(
  settings: StorageSettings,
  modules: () => EnabledModules | undefined,
  clock: Clock,
  audit: () => AuditLog | undefined,
): readonly InternalRoute[] {
  const { contextionaryUrl, contextionaryStorageSecret: secret } = settings;
  if (contextionaryUrl === undefined || secret === undefined) return [];
  const expected = digest(secret);
  const route: InternalRoute = {
    path: PATH,
    methods: ["GET", "PUT"],
    async handle(request, response) {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      const method = request.method === "PUT" ? "PUT" : "GET";
      // Kept: a connection that is closed has none any more.
      const address = request.socket.remoteAddress;
      const action = method === "PUT" ? "update_in_module" : undefined;
      const ended = (status: number): void => {
        const log = audit();
        if (log !== undefined) auditInternalRequest(log, { address, method, route: PATH, path, status, action });
      };
      if (!timingSafeEqual(digest(presented(request.headers.authorization)), expected)) {
        ended(401);
        // What follows of the request is not read.
        response.writeHead(401, { "WWW-Authenticate": "Bearer, Basic", Connection: "close" }).end();
        return;
      }
      const length = Number(request.headers["content-length"] ?? (method === "PUT" ? Number.NaN : 0));
      const result =
        length <= BODY_BYTES_MAX
          ? await responseTo(modules(), method, path, await buffer(request), clock.now() + RESPONSE_MS).catch(
              (thrown) => {
                ended(500);
                throw thrown;
              },
            )
          : { status: length > BODY_BYTES_MAX ? 413 : 411 };
      ended(result.status);
      response.statusCode = result.status;
      response.setHeader("Content-Type", "application/json");
      response.end(result.text ?? (result.json === undefined ? "" : JSON.stringify(result.json)));
    },
  };
  return [route];
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A bearer token, or the password of a URL: all that published containers can send (`http://any:SECRET@host:port`). */
function presented(header = ""): string {
  const [, scheme = "", credentials = ""] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return credentials;
  if (scheme.toLowerCase() !== "basic") return "";
  const pair = Buffer.from(credentials, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

async function responseTo(
  modules: EnabledModules | undefined,
  method: "GET" | "PUT",
  path: string,
  body: Buffer,
  deadline: number,
): Promise<ModuleResponse> {
  for (const { name, internalRoutes = [] } of modules?.all ?? []) {
    for (const route of internalRoutes) {
      const prefix = `${PATH}${name}/${route.path}`;
      const isBelow = route.path.endsWith("/") && path.startsWith(prefix);
      if ((!isBelow && path !== prefix) || !route.methods.includes(method)) continue;
      try {
        return await route.handle(method, decoded(path.slice(prefix.length)), body, { deadline });
      } catch (thrown) {
        if (!(thrown instanceof ShoalError)) throw thrown;
        return { status: STATUS_OF[thrown.code] ?? 503, text: thrown.message };
      }
    }
  }
  return { status: 404 };
}

const STATUS_OF: Readonly<Partial<Record<ShoalError["code"], number>>> = {
  malformed: 400,
  invalid: 400,
  tooLarge: 413,
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new ShoalError("malformed", `'${text}' is no part of a URL`, { cause });
  }
}
