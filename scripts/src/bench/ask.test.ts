import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { ask } from "./ask.js";
import { httpRequest } from "./load-generator/http-request.js";

it("a token in the place of the password becomes a header, here and in the load generator", async () => {
  const server = createServer((request, response) => response.end(`${request.url} ${request.headers.authorization}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(await ask(url, "/v1/meta").then((answer) => answer.text())).toBe("/v1/meta undefined");
  url.password = "a.b-c.d_e";
  expect(await ask(url, "/v1/meta").then((answer) => answer.text())).toBe("/v1/meta Bearer a.b-c.d_e");
  expect(httpRequest(url, "GET", "/v1/meta").toString()).toBe(
    `GET /v1/meta HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer a.b-c.d_e\r\n\r\n`,
  );
  server.closeAllConnections();
  server.close();
});
