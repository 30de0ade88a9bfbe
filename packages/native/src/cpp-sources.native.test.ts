import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = readdirSync(`${PACKAGE}cpp`);
const CLANG = "clang++";
const hasClang = spawnSync(CLANG, ["--version"]).status === 0;

const INCLUDES = ["node-api-headers/include", "xxhash-addon/xxHash"].flatMap((folder) => [
  "-isystem",
  `${PACKAGE}node_modules/${folder}`,
]);
const CHECKS = [
  "-Wthread-safety",
  "-Wthread-safety-beta",
  "-Werror=thread-safety-analysis",
  "-Werror=thread-safety-beta",
];

describe("the sources of the addon", () => {
  it("look at every status of Node-API", () => {
    const unread = SOURCES.flatMap((name) =>
      [...readFileSync(`${PACKAGE}cpp/${name}`, "utf8").matchAll(/(?<=[;{})]\s*|\belse\s+)napi_\w+\([^;]*;/g)].map(
        ([call]) => `${name}: ${call}`,
      ),
    );
    expect(unread).toEqual([]);
  });

  const sources = SOURCES.filter((name) => name.endsWith(".cc"));
  it.skipIf(!hasClang)(`hold the lock of what they touch (needs ${CLANG})`, () => {
    const flags = ["-std=c++17", "-fsyntax-only", "-DNAPI_VERSION=9", ...CHECKS, ...INCLUDES];
    const { status, stderr } = spawnSync(CLANG, [...flags, ...sources], { cwd: `${PACKAGE}cpp`, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});
