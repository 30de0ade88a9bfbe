import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { DOCUMENT_BYTES_MAX, readDocument } from "./read-document.js";

const servers: Server[] = [];

/** The URL of a server that answers like that. */
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const read = (url: string, signal = new AbortController().signal) => readDocument(url, signal);

describe("a document of an issuer", () => {
  it("is JSON in an answer 200", async () => {
    const url = await serving((_, response) => response.end('{"a":[1]}'));
    expect(await read(url)).toEqual({ a: [1] });
  });

  it("is nothing else", async () => {
    await expect(read(await serving((_, response) => response.end("<html>")))).rejects.toThrow(/JSON/);
    await expect(read(await serving((_, response) => response.writeHead(500).end("{}")))).rejects.toThrow(
      "it answered 500",
    );
    await expect(read(await serving((request) => request.socket.destroy()))).rejects.toThrow();
    await expect(read("http://127.0.0.1:1/")).rejects.toThrow(/./);
  });

  it("S11: is nothing that could not be given on", async () => {
    const deep = `{"issuer":"a","x":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    await expect(read(await serving((_, response) => response.end(deep)))).rejects.toMatchObject({
      code: "unavailable",
      message: "its answer is nested deeper than 200 levels",
    });
  });

  it("is not looked for elsewhere", async () => {
    let asked = 0;
    const elsewhere = await serving((_, response) => {
      asked++;
      response.end("{}");
    });
    const url = await serving((_, response) => response.writeHead(302, { Location: elsewhere }).end());
    await expect(read(url)).rejects.toThrow("it answered 302, and redirects are not followed");
    expect(asked).toBe(0);
  });

  it("is bounded in bytes, whatever length is announced", async () => {
    const chunk = Buffer.alloc(64 * 1024, " ");
    let sent = 0;
    const url = await serving((_, response) => {
      const more = (): void => {
        if (response.destroyed || sent > 100 * DOCUMENT_BYTES_MAX) return;
        sent += chunk.length;
        response.write(chunk, () => setImmediate(more));
      };
      more();
    });
    await expect(read(url)).rejects.toThrow(`its answer has more than ${DOCUMENT_BYTES_MAX} bytes`);
    expect(sent).toBeLessThan(50 * DOCUMENT_BYTES_MAX);
  });

  it("is given up when the reader stops", async () => {
    const stop = new AbortController();
    const url = await serving((_, response) => {
      response.write("{");
      setImmediate(() => stop.abort());
    });
    await expect(read(url, stop.signal)).rejects.toThrow();
  });
});
