import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubernetesObject } from "./kubernetes-object.js";
import { CHART, type HelmAnswer, NAMESPACE, RELEASE } from "./render-chart.js";

/** Kinds that the chart installs by default, by the path of their API, with the name of their resource. */
const RESOURCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/api/v1": { Secret: "secrets", Service: "services", ServiceAccount: "serviceaccounts", Pod: "pods" },
  "/apis/apps/v1": { StatefulSet: "statefulsets", Deployment: "deployments" },
  "/apis/policy/v1": { PodDisruptionBudget: "poddisruptionbudgets" },
  "/apis/batch/v1": { CronJob: "cronjobs" },
  "/apis/rbac.authorization.k8s.io/v1": { Role: "roles", RoleBinding: "rolebindings" },
  "/apis/networking.k8s.io/v1": { NetworkPolicy: "networkpolicies" },
};

/** As much of the API of Kubernetes as Helm needs to look up what is installed. */
export class ClusterStub implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "shoal-chart-"));
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const [path = ""] = (request.url ?? "").split("?");
      const found = this.#answer(path);
      response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(found ?? { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 }),
      );
    });
  }

  static async start(): Promise<ClusterStub> {
    const stub = new ClusterStub();
    await new Promise<void>((resolve) => stub.#server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = stub.#server.address() as AddressInfo;
    const configuration = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "stub", cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: "stub", context: { cluster: "stub", user: "stub" } }],
      users: [{ name: "stub", user: {} }],
      "current-context": "stub",
    };
    writeFileSync(stub.#configuration, JSON.stringify(configuration));
    return stub;
  }

  /** From now on the cluster has these, marked as the release's. */
  install(objects: readonly KubernetesObject[]): void {
    const owner = { "meta.helm.sh/release-name": RELEASE, "meta.helm.sh/release-namespace": NAMESPACE };
    for (const object of objects) {
      const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, ...owner } };
      this.#objects.set(`${object.kind} ${object.metadata.name}`, { ...object, metadata });
    }
  }

  remove(kind: string, name: string): void {
    this.#objects.delete(`${kind} ${name}`);
  }

  /** `helm template` that may ask this cluster. */
  async render(helm: string, ...more: readonly string[]): Promise<HelmAnswer> {
    const flags = [
      "--namespace",
      NAMESPACE,
      "--dry-run=server",
      "--disable-openapi-validation",
      "--kubeconfig",
      this.#configuration,
    ];
    const child = spawn(helm, ["template", RELEASE, CHART, ...flags, ...more], {
      env: { ...process.env, HOME: this.#folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [text, problems] = [[] as string[], [] as string[]];
    child.stdout.on("data", (chunk) => text.push(String(chunk)));
    child.stderr.on("data", (chunk) => problems.push(String(chunk)));
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { text: text.join(""), failure: code === 0 ? undefined : problems.join("") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true });
  }

  get #configuration(): string {
    return join(this.#folder, "kubeconfig");
  }

  #answer(path: string): unknown {
    if (path === "/version") return { major: "1", minor: "31", gitVersion: "v1.31.0" };
    if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
    if (path === "/apis") {
      const groups = Object.keys(RESOURCES).flatMap((api) => {
        const [, name, version] = /^\/apis\/(.*)\/(.*)$/.exec(api) ?? [];
        if (name === undefined) return [];
        const only = { groupVersion: `${name}/${version}`, version };
        return [{ name, versions: [only], preferredVersion: only }];
      });
      return { kind: "APIGroupList", apiVersion: "v1", groups };
    }
    for (const [api, resources] of Object.entries(RESOURCES)) {
      const groupVersion = api.replace(/^\/apis?\//, "");
      const described = Object.entries(resources).map(([kind, name]) => ({
        name,
        singularName: "",
        namespaced: true,
        kind,
        verbs: ["get"],
      }));
      if (path === api) return { kind: "APIResourceList", groupVersion, resources: described };
      for (const { name, kind } of described) {
        const prefix = `${api}/namespaces/${NAMESPACE}/${name}/`;
        if (path.startsWith(prefix)) return this.#objects.get(`${kind} ${path.slice(prefix.length)}`);
      }
    }
    return undefined;
  }
}
