import { at, HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";
import type { Profile, ScenarioFile } from "./scenario-file.js";

interface Target {
  readonly url: string;
  readonly http: HttpClient;
}

/**
 * The servers that scenario files ask for, one at a time: the last one stays as long as the next file wants the same.
 * With the variable SHOAL_URL (and SHOAL_PROFILE, `spec` unless given) there is only the server at that address,
 * which must be empty: files that need settings, and the other profile, are left out.
 */
export class ScenarioServers implements AsyncDisposable {
  readonly #url = process.env.SHOAL_URL;
  #process: ServerProcess | undefined;
  #key: string | undefined;
  #target: Target | undefined;
  #headers: Readonly<Record<string, string>> = {};

  constructor(readonly profile: Profile) {}

  canRun(file: ScenarioFile): boolean {
    if (this.#url === undefined) return true;
    const settled = file.settings !== undefined || file["own-server"] === true;
    return !settled && this.profile === (process.env.SHOAL_PROFILE ?? "spec");
  }

  /** Equal for files that share a server. */
  keyOf(file: ScenarioFile): string {
    const settings = Object.entries(file.settings ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([settings, file["own-server"] === true ? file.path : ""]);
  }

  /** The server that was opened last. */
  get current(): HttpClient {
    if (this.#target === undefined) throw new Error("no server is open");
    return this.#target.http;
  }

  /** A server with the settings of the file and no class. */
  async open(file: ScenarioFile): Promise<Target> {
    this.#headers = file.headers ?? {};
    this.#target = this.#url === undefined ? await this.#start(file) : await this.#given(this.#url);
    return this.#target;
  }

  async #start(file: ScenarioFile): Promise<Target> {
    const key = this.keyOf(file);
    if (this.#process !== undefined && this.#key === key) {
      await empty(this.#process.http, this.#headers);
      return this.#process;
    }
    await this.#stop();
    this.#process = await ServerProcess.start({ env: { WIRE_PROFILE: this.profile, ...file.settings } });
    this.#key = key;
    return this.#process;
  }

  async #given(url: string): Promise<Target> {
    if (this.#target !== undefined) {
      await empty(this.#target.http, this.#headers);
      return this.#target;
    }
    const http = new HttpClient(url.replace(/\/$/, ""));
    const classes = await classesOf(http, {});
    // What is not ours is never deleted.
    if (classes.length > 0)
      throw new Error(`${url} has the classes ${classes.join(", ")}; scenarios need an empty server`);
    return { url: http.base, http };
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
    if (this.#url !== undefined && this.#target !== undefined) await empty(this.#target.http, this.#headers);
    await this.#stop();
  }
}

async function classesOf(http: HttpClient, headers: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const answer = await http.get("/v1/schema", headers);
  const classes = at(answer.json, "classes");
  if (!Array.isArray(classes)) throw new Error(`GET /v1/schema: ${answer.status} ${answer.text}`);
  return classes.map((one) => String(at(one, "class")));
}

async function empty(http: HttpClient, headers: Readonly<Record<string, string>>): Promise<void> {
  for (const name of await classesOf(http, headers)) {
    const answer = await http.send("DELETE", `/v1/schema/${name}`, undefined, headers);
    if (answer.status !== 200) throw new Error(`DELETE /v1/schema/${name}: ${answer.status} ${answer.text}`);
  }
}
