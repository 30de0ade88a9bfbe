import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { configurationFileSource } from "./configuration-file.js";

const folder = mkdtempSync(join(tmpdir(), "shoal-configuration-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const PORT = { variable: "PORT", key: "port" };

describe("the file of a configuration", () => {
  it.each(["shoal.yaml", "shoal.yml", "shoal.json", "no-extension"])("%s is read", (name) => {
    const path = write(name, '{"port": 9000}');
    expect(configurationFileSource(path)(PORT)).toEqual({ value: 9000, place: `port (${path} line 1)` });
    expect(configurationFileSource(path)({ variable: "HOST", key: "host" })).toBeUndefined();
  });

  it("is read through a link, as a mounted one often is", () => {
    const link = join(folder, "link.yaml");
    symlinkSync(write("target.yaml", "port: 1"), link);
    expect(configurationFileSource(link)(PORT)?.value).toBe(1);
  });

  it("must exist and be a file", () => {
    expect(() => configurationFileSource(join(folder, "missing.yaml"))).toThrow(
      /^the configuration file ".*missing\.yaml" cannot be read: ENOENT/,
    );
    expect(() => configurationFileSource(folder)).toThrow(/^the configuration file ".*" cannot be read: EISDIR/);
    expect(() => configurationFileSource("")).toThrow(/^the configuration file "" cannot be read/);
    expect(() => configurationFileSource("a\0b")).toThrow(/^the configuration file "a\\u0000b" cannot be read: .*$/);
  });

  it("has at most a mebibyte", () => {
    const most = 1024 * 1024;
    expect(configurationFileSource(write("most.yaml", `port: 1\n#${" ".repeat(most - 9)}`))(PORT)?.value).toBe(1);
    expect(() => configurationFileSource(write("more.yaml", `port: 1\n#${" ".repeat(most - 8)}`))).toThrow(
      /more\.yaml has more than 1048576 bytes$/,
    );
    expect(() => configurationFileSource("/dev/zero")).toThrow("/dev/zero has more than 1048576 bytes");
  });

  it("is UTF-8", () => {
    expect(configurationFileSource(write("utf8.yaml", "name: Größe"))({ variable: "", key: "name" })?.value).toBe(
      "Größe",
    );
    expect(() => configurationFileSource(write("latin1.yaml", Buffer.from("name: Größe", "latin1")))).toThrow(
      /latin1\.yaml is not UTF-8 text$/,
    );
  });
});
