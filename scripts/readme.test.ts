import { SETTINGS } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import { readText } from "./source-tree.js";

/** Rows of the README's configuration table: variable and default. */
const rows = new Map(
  [...readText("README.md").matchAll(/^\| `([A-Z_]+)` \| (.*?) \| .+ \|$/gm)].map((match) => [match[1], match[2]]),
);

describe("README.md", () => {
  it("lists every setting with its default, and no other", () => {
    const expected = Object.values(SETTINGS).map(({ variable, fallback }) => {
      if (variable === "CLUSTER_HOSTNAME") return [variable, "the host's name"];
      return [variable, fallback === "" ? "(empty)" : `\`${fallback}\``];
    });
    expect(Object.fromEntries([...rows].map(([name, value]) => [name, value?.trim()]))).toEqual(
      Object.fromEntries(expected),
    );
  });

  it("names commands that exist", () => {
    const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
    const named = [...readText("README.md").matchAll(/npm (?:run )?(start|test|demo|bench|faults)\b/g)];
    expect(named.length).toBeGreaterThan(4);
    for (const [, name = ""] of named) expect(Object.keys(scripts)).toContain(name);
  });

  it("links to files that exist", () => {
    for (const path of ["README.md", "packages/README.md"]) {
      const folder = path === "README.md" ? "" : "packages/";
      for (const [, target = ""] of readText(path).matchAll(/\]\(([^)#:]+)\)/g)) {
        const probe = /\.\w+$/.test(target) ? `${folder}${target}` : `${folder}${target}/README.md`;
        expect(() => readText(probe), `${path} links to ${target}`).not.toThrow();
      }
    }
  });
});
