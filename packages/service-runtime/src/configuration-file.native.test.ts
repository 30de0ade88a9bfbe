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
  it.each(["shoal.yaml", "shoal.yml", "shoal.json", "no-extension"])("%s is read", async (name) => {
    const path = write(name, '{"port": 9000}');
    expect((await configurationFileSource(path))(PORT)).toEqual({ value: 9000, place: `port (${path} line 1)` });
    expect((await configurationFileSource(path))({ variable: "HOST", key: "host" })).toBeUndefined();
  });

  it("is read through a link, as a mounted one often is", async () => {
    const link = join(folder, "link.yaml");
    symlinkSync(write("target.yaml", "port: 1"), link);
    expect((await configurationFileSource(link))(PORT)?.value).toBe(1);
  });

  it("must exist and be a file", async () => {
    await expect(configurationFileSource(join(folder, "missing.yaml"))).rejects.toThrow(
      /^the configuration file ".*missing\.yaml" cannot be read: ENOENT/,
    );
    await expect(configurationFileSource(folder)).rejects.toThrow(
      /^the configuration file ".*" cannot be read: EISDIR/,
    );
    await expect(configurationFileSource("")).rejects.toThrow(/^the configuration file "" cannot be read/);
    await expect(configurationFileSource("a\0b")).rejects.toThrow(
      /^the configuration file "a\\u0000b" cannot be read: .*$/,
    );
  });

  it("has at most a mebibyte", async () => {
    const bytesMax = 1024 * 1024;
    const most = await configurationFileSource(write("most.yaml", `port: 1\n#${" ".repeat(bytesMax - 9)}`));
    expect(most(PORT)?.value).toBe(1);
    await expect(configurationFileSource(write("more.yaml", `port: 1\n#${" ".repeat(bytesMax - 8)}`))).rejects.toThrow(
      /more\.yaml has more than 1048576 bytes$/,
    );
    await expect(configurationFileSource("/dev/zero")).rejects.toThrow("/dev/zero has more than 1048576 bytes");
  });

  it("is UTF-8", async () => {
    const utf8 = await configurationFileSource(write("utf8.yaml", "name: Größe"));
    expect(utf8({ variable: "", key: "name" })?.value).toBe("Größe");
    await expect(configurationFileSource(write("latin1.yaml", Buffer.from("name: Größe", "latin1")))).rejects.toThrow(
      /latin1\.yaml is not UTF-8 text$/,
    );
  });
});
