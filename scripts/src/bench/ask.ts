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
