import { join } from "node:path";
import { WEAVIATE_PROFILE } from "@shoal/model";
import { configurationFileSource, describeDefault, readConfiguration, SETTINGS } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { settingsPage } from "./settings-page.js";
import { readText, root } from "./source-tree.js";
import { wireProfilesPage } from "./wire-profiles-page.js";

const DEPLOY_PAGES = [
  ...["README", "CONFIGURATION", "WIRE_PROFILES", "METRICS", "MACHINES", "RUNBOOK"].map((name) => `deploy/${name}.md`),
  "helm/shoal/README.md",
];

/** Rows of the README's configuration table: variable and default. */
const rows = [...readText("README.md").matchAll(/^\| `([A-Z_]+)` \| (.*?) \| .+ \|$/gm)];

describe("configuration", () => {
  it("deploy/CONFIGURATION.md is made from the settings: vitest --update makes it again", async () => {
    await expect(settingsPage()).toMatchFileSnapshot("../deploy/CONFIGURATION.md");
  });

  it("U2: deploy/WIRE_PROFILES.md is made from the profiles: every point on which they differ, and its two values", async () => {
    await expect(wireProfilesPage()).toMatchFileSnapshot("../deploy/WIRE_PROFILES.md");
    const rows = wireProfilesPage().matchAll(/^\| (?!point|-)(.+) \| (.+) \| (.+) \|$/gm);
    const points = [...rows].map(([, point, weaviate, spec]) => ({ point, differ: weaviate !== spec }));
    expect(points).toHaveLength(Object.keys(WEAVIATE_PROFILE).length);
    for (const { point, differ } of points) expect(differ, point).toBe(true);
  });

  it("the README's short table names settings, with their defaults", () => {
    const known = new Map(SETTINGS.map((setting) => [setting.variable, describeDefault(setting)]));
    expect(rows.length).toBeGreaterThan(5);
    for (const [, variable = "", standing = ""] of rows) {
      expect(known.get(variable), variable).toBe(standing.replaceAll("`", ""));
    }
  });

  it("the example file is read, and each of its keys has its effect", async () => {
    const warnings: string[] = [];
    const source = await configurationFileSource(join(root, "deploy/examples/shoal.yaml"));
    const configuration = readConfiguration([source], (message) => warnings.push(message));
    expect(warnings).toEqual([]);
    expect(configuration).toMatchObject({
      host: "0.0.0.0",
      dataPath: "/var/lib/shoal",
      authentication: {
        anonymousAccess: false,
        oidc: { issuer: "https://login.example.com/realms/team", usernameClaim: "email" },
      },
      authorization: {
        users: ["ann@example.com", "bob@example.com"],
        readOnlyUsers: ["dashboard@example.com"],
        groups: [],
        readOnlyGroups: [],
      },
      batchTimeoutSeconds: 120,
      drainDelaySeconds: 5,
    });
  });
});

describe("README.md", () => {
  it("names commands that exist", () => {
    const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
    const named = ["README.md", "scripts/README.md"].flatMap((path) => [
      ...readText(path).matchAll(/(?<=npm )(?:start|test)\b|(?<=npm run )[\w:-]+/g),
    ]);
    expect(named.length).toBeGreaterThan(10);
    for (const [name] of named) expect(Object.keys(scripts)).toContain(name);
  });

  it("links to files that exist", () => {
    for (const path of ["README.md", "packages/README.md", ...DEPLOY_PAGES]) {
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      for (const [, target = ""] of readText(path).matchAll(/\]\(([^)#:]+)\)/g)) {
        const probe = /(\.\w+|\/Dockerfile)$/.test(target) ? `${folder}${target}` : `${folder}${target}/README.md`;
        expect(() => readText(probe), `${path} links to ${target}`).not.toThrow();
      }
    }
  });
});
