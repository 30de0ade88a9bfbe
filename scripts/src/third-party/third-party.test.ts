import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { cycloneDx } from "./cyclone-dx.js";
import { noticeText } from "./notice.js";
import { productionPackages } from "./production-packages.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const packages = productionPackages(ROOT);
const names = packages.map(({ name }) => name);

/** Licences under which everybody may use and pass on what we ship. */
const ALLOWED =
  /^\(?(MIT|MIT-0|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|CC0-1\.0|CC-BY-4\.0|Unlicense|Python-2\.0|PDDL-1\.0)\b/;

describe("S9: what runs in production", () => {
  it("has what serves, and nothing that only builds the console or tests", () => {
    expect(names).toEqual(expect.arrayContaining(["@grpc/grpc-js", "rocksdb", "graphql", "express", "zod"]));
    const editor = names.filter((name) => /codemirror|lezer|preact|monaco|graphiql|oauth4webapi|cm6/.test(name));
    expect(editor).toEqual([]);
    expect(names.filter((name) => /^(vite|vitest|typescript|esbuild|rollup|@biomejs\/.*)$/.test(name))).toEqual([]);
  });

  it("is under licences that allow it", () => {
    expect(
      packages.filter(({ license }) => !ALLOWED.test(license)).map(({ name, license }) => `${name}: ${license}`),
    ).toEqual([]);
  });

  it("stands in NOTICE: vitest --update makes it again", async () => {
    await expect(noticeText(packages)).toMatchFileSnapshot("../../../NOTICE");
  });

  it("is a bill of materials in the form of CycloneDX", () => {
    const serial = "00000000-0000-4000-8000-000000000000";
    const bill = cycloneDx(packages, { shoalVersion: "1.2.3", serial, nowMs: 0 }) as Record<string, unknown>;
    expect(bill).toMatchObject({
      bomFormat: "CycloneDX",
      specVersion: "1.5",
      serialNumber: `urn:uuid:${serial}`,
      metadata: { timestamp: "1970-01-01T00:00:00.000Z", component: { name: "shoal", version: "1.2.3" } },
    });
    const components = bill.components as readonly Record<string, unknown>[];
    expect(components.length).toBe(packages.length);
    expect(new Set(components.map((one) => one["bom-ref"])).size).toBe(components.length);
    for (const one of components) {
      expect(one).toMatchObject({
        type: "library",
        purl: expect.stringMatching(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\./),
        hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
      });
    }
  });
});
