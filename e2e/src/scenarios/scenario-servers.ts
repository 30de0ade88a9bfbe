import { at, HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";
import type { Profile, ScenarioFile } from "./scenario-file.js";

/** A server, as scenarios see it. */
export interface ScenarioServer {
  readonly url: string;
  readonly http: HttpClient;
  /** What it says its address is; a matcher where several answer. */
  readonly hostname: string;
  readonly storageNodes: number;
}

function oneServer({ url, http }: { readonly url: string; readonly http: HttpClient }): ScenarioServer {
  return { url, http, hostname: url, storageNodes: 1 };
}

/** The servers that scenario files ask for, one at a time. */
export interface ScenarioServers extends AsyncDisposable {
  readonly isCluster: boolean;
  canRun(file: ScenarioFile): boolean;
  /** Equal for files that share a server. */
  keyOf(file: ScenarioFile): string;
  /** A server with the settings of the file and no class. Files with equal keys come one after the other. */
  open(file: ScenarioFile): Promise<ScenarioServer>;
}

/**
 * Processes of one server each; with the variable SHOAL_URL (and SHOAL_PROFILE, `weaviate` unless given) the server at that
 * address, which must be empty: files that need settings, and the other profile, are left out.
 */
export function scenarioServers(profile: Profile): ScenarioServers {
  const url = process.env.SHOAL_URL;
  return url === undefined ? new ServerProcesses(profile) : new GivenServer(profile, url);
}

/** Equal for files with the same settings, unless one wants a server to itself. */
export function settingsKey(file: ScenarioFile): string {
  const settings = Object.entries(file.settings ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([settings, file["own-server"] === true ? file.path : ""]);
}

/** The last process stays as long as the next file wants the same. */
class ServerProcesses implements ScenarioServers {
  readonly isCluster = false;
  #process: ServerProcess | undefined;
  #key: string | undefined;

  constructor(readonly profile: Profile) {}

  canRun(): boolean {
    return true;
  }

  keyOf(file: ScenarioFile): string {
    return settingsKey(file);
  }

  async open(file: ScenarioFile): Promise<ScenarioServer> {
    const key = settingsKey(file);
    if (this.#process !== undefined && this.#key === key) {
      await emptySchema(this.#process.http, file.headers);
      return oneServer(this.#process);
    }
    await this.#stop();
    this.#process = await ServerProcess.start({ env: { WIRE_PROFILE: this.profile, ...file.settings } });
    this.#key = key;
    return oneServer(this.#process);
  }

  async #stop(): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    this.#key = undefined;
    if (server === undefined) return;
    const alive = server.running;
    await server[Symbol.asyncDispose]();
    if (!alive) throw new Error(`the server ended by itself:\n${server.output.slice(-4_000)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

class GivenServer implements ScenarioServers {
  readonly isCluster = false;
  readonly #http: HttpClient;
  #isOurs = false;

  constructor(
    readonly profile: Profile,
    url: string,
  ) {
    this.#http = new HttpClient(url.replace(/\/$/, ""));
  }

  canRun(file: ScenarioFile): boolean {
    const settled = file.settings !== undefined || file["own-server"] === true;
    return !settled && this.profile === (process.env.SHOAL_PROFILE ?? "weaviate");
  }

  keyOf(): string {
    return "";
  }

  async open(file: ScenarioFile): Promise<ScenarioServer> {
    const url = this.#http.base;
    const classes = await classesOf(this.#http);
    // What is not ours is never deleted.
    if (!this.#isOurs && classes.length > 0) {
      throw new Error(`${url} has the classes ${classes.join(", ")}; scenarios need an empty server`);
    }
    this.#isOurs = true;
    await emptySchema(this.#http, file.headers);
    return oneServer({ url, http: this.#http });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOurs) await emptySchema(this.#http);
  }
}

async function classesOf(http: HttpClient, headers: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const answer = await http.get("/v1/schema", headers);
  const classes = at(answer.json, "classes");
  if (!Array.isArray(classes)) throw new Error(`GET /v1/schema: ${answer.status} ${answer.text}`);
  return classes.map((one) => String(at(one, "class")));
}

/** Deletes every class. */
export async function emptySchema(http: HttpClient, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const name of await classesOf(http, headers)) {
    const answer = await http.send("DELETE", `/v1/schema/${name}`, undefined, headers);
    if (answer.status !== 200) throw new Error(`DELETE /v1/schema/${name}: ${answer.status} ${answer.text}`);
  }
}
