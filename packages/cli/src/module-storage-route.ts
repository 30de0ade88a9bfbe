import { buffer } from "node:stream/consumers";
import { ShoalError } from "@shoal/model";
import type { EnabledModules, ModuleResponse } from "@shoal/module-api";
import type { Clock, InternalRoute } from "@shoal/service-runtime";

const PATH = "/v1/modules/";
const ANSWER_MS = 30_000;
const BODY_BYTES_MAX = 1024 * 1024;

/** The internal routes of modules, once these are there: below `/v1/modules/<name>/`, without authentication. */
export function moduleStorageRoute(modules: () => EnabledModules | undefined, clock: Clock): InternalRoute {
  return {
    path: PATH,
    methods: ["GET", "PUT"],
    async handle(request, response) {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      const method = request.method === "PUT" ? "PUT" : "GET";
      const length = Number(request.headers["content-length"] ?? (method === "PUT" ? Number.NaN : 0));
      const answer =
        length <= BODY_BYTES_MAX
          ? await answered(modules(), method, path, await buffer(request), clock.now() + ANSWER_MS)
          : { status: length > BODY_BYTES_MAX ? 413 : 411 };
      response.statusCode = answer.status;
      response.setHeader("Content-Type", "application/json");
      response.end(answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json)));
    },
  };
}

async function answered(
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
        return { status: thrown.code === "malformed" ? 400 : 503, text: thrown.message };
      }
    }
  }
  return { status: 404 };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new ShoalError("malformed", `'${text}' is no part of a URL`, { cause });
  }
}
