import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiKeySource } from "@shoal/gateway";
import {
  type ApiKeyConfiguration,
  digestOfKey,
  type Logger,
  ResourceScope,
  silentLogger,
} from "@shoal/service-runtime";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { followApiKeys } from "./follow-api-keys.js";

/** A folder, and what is followed in it. */
async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), "shoal-keys-"));
  const scope = new ResourceScope();
  return {
    folder,
    scope,
    [Symbol.asyncDispose]: async () => {
      await scope[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const FAST = { lookMs: 10, quietMs: 20, startQuietMs: 20 };

const settings = (file: string, more: Partial<ApiKeyConfiguration> = {}): ApiKeyConfiguration => ({
  allowed: [],
  file,
  soleUser: undefined,
  besideIssuer: false,
  ...more,
});

const holder = ([source]: readonly ApiKeySource[], key: string): string | undefined =>
  source?.find(digestOfKey(key))?.username;

describe("a followed file of API keys", () => {
  let opened: Awaited<ReturnType<typeof openFolder>>;
  let folder: string;
  let scope: ResourceScope;
  beforeEach(async () => {
    opened = await openFolder();
    ({ folder, scope } = opened);
  });
  afterEach(() => opened[Symbol.asyncDispose]());

  it("is none where the settings name none", async () => {
    expect(await followApiKeys(undefined, silentLogger, scope)).toEqual([]);
    expect(
      await followApiKeys(
        { allowed: [], file: undefined, soleUser: undefined, besideIssuer: false },
        silentLogger,
        scope,
      ),
    ).toEqual([]);
  });

  it("stops the start when it cannot be used", async () => {
    const missing = join(folder, "missing");
    await expect(followApiKeys(settings(missing), silentLogger, scope)).rejects.toThrow(
      /AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE '.*missing' cannot be read: ENOENT/,
    );
    await writeFile(missing, "# nobody\n");
    await expect(followApiKeys(settings(missing), silentLogger, scope)).rejects.toThrow(
      "need at least one valid allowed key",
    );
    await truncate(missing, 3 * 1024 * 1024);
    await expect(followApiKeys(settings(missing), silentLogger, scope)).rejects.toThrow("at most 2097152");
    await writeFile(missing, "bob,k1");
    const allowed = [{ digest: digestOfKey("k1"), username: "ann" }];
    await expect(followApiKeys(settings(missing, { allowed }), silentLogger, scope)).rejects.toThrow(
      "the users 'ann' and 'bob' have the same key",
    );
  });

  it("is read again when it is written, renamed over, or is a link that leads elsewhere", async () => {
    const file = join(folder, "keys");
    await writeFile(file, "ann,k1\n");
    const sources = await followApiKeys(settings(file), silentLogger, scope, FAST);
    expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual(["ann", undefined]);
    // The same number of keys: it is what they are that counts.
    await writeFile(file, "ann,k2\n");
    await vi.waitFor(() => expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual([undefined, "ann"]));
    await writeFile(join(folder, "next"), "bob,k2\n");
    await rename(join(folder, "next"), file);
    await vi.waitFor(() => expect(holder(sources, "k2")).toBe("bob"));
  });

  it("is read again when it is written in place with its former size and time", async () => {
    const file = join(folder, "keys");
    const then = new Date(Date.now() - 60_000);
    await writeFile(file, "ann,k1\n");
    await utimes(file, then, then);
    const sources = await followApiKeys(settings(file), silentLogger, scope, FAST);
    expect(holder(sources, "k1")).toBe("ann");
    await writeFile(file, "ann,k2\n");
    await utimes(file, then, then);
    await vi.waitFor(() => expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual([undefined, "ann"]));
  });

  it("follows the links that Kubernetes swaps", async () => {
    for (const [name, text] of [
      ["one", "ann,k1"],
      ["two", "ann,k2"],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "keys"), text);
    }
    await symlink("one", join(folder, "..data"));
    await symlink("..data/keys", join(folder, "keys"));
    const sources = await followApiKeys(settings(join(folder, "keys")), silentLogger, scope, FAST);
    expect(holder(sources, "k1")).toBe("ann");
    await symlink("two", join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    await vi.waitFor(() => expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual([undefined, "ann"]));
  });

  it.each<[string, (file: string) => unknown, string]>([
    ["named pipe", (file) => execFileSync("mkfifo", [file]), "it is a named pipe, not a regular file"],
    ["folder", (file) => mkdir(file), "it is a folder, not a regular file"],
    ["device", (file) => symlink("/dev/zero", file), "it is a device, not a regular file"],
    // A hole: it takes no space.
    ["huge file", (file) => writeFile(file, "").then(() => truncate(file, 10 * 2 ** 30)), "it has 10737418240 bytes"],
  ])("that becomes a %s keeps the former keys, says why, and is followed on", async (_, replace, reason) => {
    const file = join(folder, "keys");
    const warnings: string[] = [];
    const warn: Logger["warn"] = (fields) => warnings.push((fields as { error: string }).error);
    await writeFile(file, "ann,k1\n");
    const sources = await followApiKeys(settings(file), { ...silentLogger, warn }, scope, FAST);
    await rm(file);
    await replace(file);
    const refusal = `AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE '${file}' cannot be read: ${reason}`;
    await vi.waitFor(() => expect(warnings).toContainEqual(expect.stringContaining(refusal)));
    expect(holder(sources, "k1")).toBe("ann");
    await rm(file, { recursive: true });
    await writeFile(file, "ann,k2\n");
    await vi.waitFor(() => expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual([undefined, "ann"]));
  });

  it("that was written before holds up no start", async () => {
    const file = join(folder, "keys");
    await writeFile(file, "ann,s3cr3t");
    await utimes(file, new Date(), new Date(Date.now() - 60_000));
    const never = { lookMs: 60_000, startQuietMs: 30_000 };
    const sources = await followApiKeys(settings(file), silentLogger, scope, never);
    expect(holder(sources, "s3cr3t")).toBe("ann");
  });

  it("whose first reading is under way does not outlive the start", async () => {
    const file = join(folder, "keys");
    await writeFile(file, "ann,s3cr3t");
    const own = new ResourceScope();
    const following = followApiKeys(settings(file), silentLogger, own, { lookMs: 60_000, startQuietMs: 60_000 });
    const ended = expect(following).rejects.toThrow();
    await own[Symbol.asyncDispose]();
    await ended;
  });

  it("that does not come to an end keeps the former keys, and says so", async () => {
    const file = join(folder, "keys");
    const warnings: string[] = [];
    const warn: Logger["warn"] = (fields) => warnings.push((fields as { error: string }).error);
    await writeFile(file, "ann,k1\n");
    const sources = await followApiKeys(settings(file), { ...silentLogger, warn }, scope, FAST);
    await writeFile(file, "bob,k2\n");
    const writing = setInterval(() => void appendFile(file, "#\n"), 1);
    try {
      await vi.waitFor(() => expect(warnings).toContainEqual(expect.stringContaining("it still changes")), {
        timeout: 30_000,
      });
    } finally {
      clearInterval(writing);
    }
    expect(holder(sources, "k1")).toBe("ann");
  });

  it("that becomes bad keeps the former keys and says so, without any key", async () => {
    const file = join(folder, "keys");
    const lines: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      info: (fields, message) => lines.push(`info ${message} ${JSON.stringify(fields)}`),
      warn: (fields, message) => lines.push(`warn ${message} ${JSON.stringify(fields)}`),
    };
    await writeFile(file, "ann,k1\n");
    const sources = await followApiKeys(settings(file), logger, scope, FAST);
    expect(lines.splice(0)).toEqual([expect.stringContaining("has 1 key of fewer than 16 characters")]);
    await writeFile(file, "ann,s3cr3t with space\n");
    await vi.waitFor(() => expect(lines.join("\n")).toContain("changed API keys cannot be used; the former ones stay"));
    await rm(file);
    await vi.waitFor(() => expect(lines.join("\n")).toContain("ENOENT"));
    // The message alone: the line where it was noticed tells nobody anything.
    for (const line of lines) expect(line).toMatch(/^warn .*"error":"/);
    expect(holder(sources, "k1")).toBe("ann");
    await writeFile(file, "ann,s3cr3t\n");
    await vi.waitFor(() => expect(holder(sources, "s3cr3t")).toBe("ann"));
    expect(lines.join("\n")).toContain("info API keys were read again");
    expect(lines.join("\n")).not.toContain("s3cr3t");
  });
});

// Together, as each waits until its file is quiet.
describe.concurrent("a file of API keys", () => {
  it("that is written in place has no key of half a line", async () => {
    await using opened = await openFolder();
    const { folder, scope } = opened;
    const file = join(folder, "keys");
    await writeFile(file, "ann,k1\n");
    const sources = await followApiKeys(settings(file), silentLogger, scope, { ...FAST, quietMs: 5_000 });
    const seen = new Set<string | undefined>();
    const watching = setInterval(() => seen.add(holder(sources, "s3c")), 1);
    try {
      await writeFile(file, "bob,k2\nann,s3c");
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect([holder(sources, "k1"), holder(sources, "k2")]).toEqual(["ann", undefined]);
      await appendFile(file, "r3t\n");
      await vi.waitFor(() => expect([holder(sources, "s3cr3t"), holder(sources, "k2")]).toEqual(["ann", "bob"]), {
        timeout: 30_000,
      });
    } finally {
      clearInterval(watching);
    }
    expect([...seen]).toEqual([undefined]);
  });

  it("that is written in place line by line counts when it is whole, and nobody is locked out before", async () => {
    await using opened = await openFolder();
    const { folder, scope } = opened;
    const file = join(folder, "keys");
    await writeFile(file, "ann,k1\nbob,k2\ncid,k3\n");
    const sources = await followApiKeys(settings(file), silentLogger, scope, { ...FAST, quietMs: 5_000 });
    const seen = new Set<string>();
    const watching = setInterval(
      () => seen.add(["k1", "k2", "k3", "k4"].map((key) => holder(sources, key) ?? "-").join()),
      1,
    );
    try {
      await writeFile(file, "ann,k1\n");
      await new Promise((resolve) => setTimeout(resolve, 300));
      await appendFile(file, "bob,k2\n");
      await new Promise((resolve) => setTimeout(resolve, 300));
      await appendFile(file, "dan,k4\n");
      await vi.waitFor(() => expect(holder(sources, "k4")).toBe("dan"), { timeout: 60_000 });
    } finally {
      clearInterval(watching);
    }
    expect([...seen]).toEqual(["ann,bob,cid,-", "ann,bob,-,dan"]);
  }, 90_000);

  it("that is written in place while the server starts is waited for", async () => {
    await using opened = await openFolder();
    const { folder, scope } = opened;
    const file = join(folder, "keys");
    await writeFile(file, "ann,s3c");
    const following = followApiKeys(settings(file), silentLogger, scope, { lookMs: 60_000, startQuietMs: 3_000 });
    setTimeout(() => void appendFile(file, "r3t"), 100);
    const sources = await following;
    expect([holder(sources, "s3cr3t"), holder(sources, "s3c")]).toEqual(["ann", undefined]);
  });
});
