import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root } from "../../source-tree.js";
import type { KubernetesObject } from "./kubernetes-object.js";
import { CHART, HELMS, NAMESPACE, renderChart } from "./render-chart.js";

const [, helm = ""] = HELMS;
const SHOAL = join(root, "packages", "cli", "dist", "main.js");

/** The command, while which the API closes connections that it has not been asked on for a while. */
const IMPATIENT = `await (await fetch(process.env.API + "/close")).text(); await import(${JSON.stringify(SHOAL)});`;

let folder: string;
let server: Server;
/** Secrets by name, as the API has them. */
let secrets: Map<string, Record<string, string>>;
let asked: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-renewal-"));
  asked = [];
  writeFileSync(join(folder, "shoal.mjs"), IMPATIENT);
  server = createServer((request, response) => {
    if (request.url === "/close") {
      server.closeIdleConnections();
      response.end();
      return;
    }
    const [, name = ""] = new RegExp(`^/api/v1/namespaces/${NAMESPACE}/secrets/(.+)$`).exec(request.url ?? "") ?? [];
    asked.push(`${request.method} ${name} ${request.headers.authorization}`);
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const data = secrets.get(name);
      if (data !== undefined && request.method === "PATCH") Object.assign(data, JSON.parse(body).data);
      response.writeHead(data === undefined ? 404 : 200).end(JSON.stringify({ data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
});

function run(
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const text = readFileSync(join(CHART, "files", script), "utf8");
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    env: { PATH: process.env.PATH, ...env },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      said += chunk;
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, said })));
}

/** What the chart renders with certificates of so many days. */
function rendered(days: number): readonly KubernetesObject[] {
  return renderChart(helm, "default", "--set", `internalTls.validityDays=${days}`);
}

/** The job's own variables, and those that stand in for the cluster. */
function renew(objects: readonly KubernetesObject[]) {
  const job = objects.find(({ kind }) => kind === "CronJob") as unknown as {
    spec: {
      jobTemplate: { spec: { template: { spec: { containers: [{ env: { name: string; value: string }[] }] } } } };
    };
  };
  const variables = job.spec.jobTemplate.spec.template.spec.containers[0].env.map(({ name, value }) => [name, value]);
  const { NODE_EXTRA_CA_CERTS: _, ...own } = Object.fromEntries(variables) as Record<string, string>;
  const authority = join(folder, "secret");
  mkdirSync(authority, { recursive: true });
  for (const file of ["tls.crt", "tls.key"]) {
    writeFileSync(join(authority, file), Buffer.from(secrets.get("rel-shoal-ca")?.[file] ?? "", "base64"));
  }
  writeFileSync(join(folder, "token"), "the-token\n");
  const { port } = server.address() as AddressInfo;
  const here = {
    API: `http://127.0.0.1:${port}`,
    TOKEN_FILE: join(folder, "token"),
    AUTHORITY: authority,
    WORK: folder,
    SHOAL: join(folder, "shoal.mjs"),
  };
  return run("renew-certificates.mjs", { ...own, ...here, VALIDITY_DAYS: "90" });
}

const certificate = (name: string): X509Certificate =>
  new X509Certificate(Buffer.from(secrets.get(name)?.["tls.crt"] ?? "", "base64"));

it("S7: the job renews what runs out, by the authority that Helm made, under the same names", async () => {
  const objects = rendered(90);
  secrets = new Map(
    objects.flatMap(({ kind, metadata, data }) => (kind === "Secret" ? [[metadata.name, { ...data }]] : [])),
  );
  expect(await renew(objects)).toEqual({ code: 0, said: "" });
  expect(asked.every((one) => one.startsWith("GET ") && one.endsWith(" Bearer the-token"))).toBe(true);

  // As earlier charts made them, for ten years.
  const objectsOfBefore = rendered(3_650);
  secrets = new Map(
    objectsOfBefore.flatMap(({ kind, metadata, data }) => (kind === "Secret" ? [[metadata.name, { ...data }]] : [])),
  );
  expect((await renew(objectsOfBefore)).said.match(/is renewed/g)).toHaveLength(6);
  expect((await renew(objectsOfBefore)).said).toBe("");

  // Of another authority: as when that was made again.
  const foreign = rendered(90).find(({ metadata }) => metadata.name === "rel-shoal-storage-node-1-tls");
  secrets.set("rel-shoal-storage-node-1-tls", { ...foreign?.data });
  secrets.delete("rel-shoal-gateway-tls");
  const { code, said } = await renew(objects);
  expect(code).toBe(1);
  expect(said).toContain("rel-shoal-storage-node-1-tls is renewed");
  expect(said).toContain("GET of Secret rel-shoal-gateway-tls: 404");
  expect(said.match(/is renewed/g)).toHaveLength(1);
  const fresh = certificate("rel-shoal-storage-node-1-tls");
  expect(fresh.verify(certificate("rel-shoal-ca").publicKey)).toBe(true);
  expect(fresh.checkHost("rel-shoal-storage-node-1")).toBeDefined();
  expect(fresh.checkHost("rel-shoal-storage-node-1.rel-shoal-storage-node.search.svc")).toBeDefined();
  expect(fresh.checkHost("rel-shoal-storage-node-0")).toBeUndefined();
  expect(fresh.checkHost("gateway")).toBeUndefined();
  expect(secrets.get("rel-shoal-storage-node-1-tls")?.["ca.crt"]).toBe(secrets.get("rel-shoal-ca")?.["tls.crt"]);
});

it("S7: an init container copies the certificate of its pod, and no other one", async () => {
  const [all, own] = [join(folder, "all"), join(folder, "own")];
  for (const pod of ["node-0", "node-1"]) {
    mkdirSync(join(all, pod), { recursive: true });
    for (const file of ["ca.crt", "tls.crt", "tls.key"]) writeFileSync(join(all, pod, file), `${pod} ${file}`);
  }
  mkdirSync(own);
  const variables = { CERTIFICATE_OF: "node-1", ALL_CERTIFICATES: all, OWN_CERTIFICATE: own };
  expect((await run("own-certificate.mjs", variables)).code).toBe(0);
  expect(readdirSync(own).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
  expect(readFileSync(join(own, "tls.key"), "utf8")).toBe("node-1 tls.key");
  expect(statSync(join(own, "tls.key")).mode & 0o777).toBe(0o400);
  chmodSync(own, 0o700);
  expect(await run("own-certificate.mjs", variables)).toEqual({ code: 0, said: "" });
  const missing = await run("own-certificate.mjs", { ...variables, CERTIFICATE_OF: "node-2" });
  expect(missing.code).toBe(1);
});
