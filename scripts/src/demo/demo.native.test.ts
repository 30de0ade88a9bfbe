import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeShoal } from "../bench/fake-shoal.js";
import { runDemo } from "./demo.js";
import { Terminal } from "./terminal.js";

describe("runDemo against a fake", () => {
  let server: Server;
  let url: URL;
  let text = "";
  const terminal = new Terminal({ write: (piece) => (text += piece) }, true);
  const size = { words: 12_000, recallQueries: 5 };

  beforeEach(async () => {
    text = "";
    server = fakeShoal().listen(0, "127.0.0.1");
    await once(server, "listening");
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it("imports, shows neighbours with certainty, and measures recall", async () => {
    await runDemo(url, terminal, size);
    expect(text).toContain("100 %  12,000 words");
    expect(text).toMatch(/objects\/s, each acknowledged/);
    expect(text).toMatch(/paris +\S+ 0\.[89]\d\d/);
    expect(text).toContain("recall@10 1.0000 over 5 words");
    expect(text).not.toContain("\x1b");
  });

  it("fails when the class cannot be made", async () => {
    await fetch(new URL("/v1/schema", url), { method: "POST", body: '{"class":"Word"}' });
    await expect(runDemo(url, terminal, size)).rejects.toThrow("class Word: 422");
  });
});
