import { ShoalError } from "@shoal/model";

/**
 * A request to a server under test. Its address may carry a bearer token in the place of the password
 * (`http://:<token>@host:8080`), which `fetch` would refuse.
 */
export function ask(server: URL, path: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(path, server);
  url.password = "";
  const headers = new Headers(init.headers);
  if (server.password !== "") headers.set("authorization", `Bearer ${server.password}`);
  return fetch(url, { ...init, headers });
}

/** Sends a body as JSON. Fails with `internal` unless the answer is 200. */
export async function post(server: URL, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await ask(server, path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.text();
  if (response.status !== 200) throw new ShoalError("internal", `POST ${path}: ${response.status} ${answer}`);
}
