/**
 * The bytes of one HTTP/1.1 request with a JSON body, ready to be written. The address may carry a bearer token in the
 * place of the password.
 */
export function httpRequest(url: URL, method: string, path: string, body?: string): Buffer {
  const token = url.password === "" ? "" : `authorization: Bearer ${url.password}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\n${token}`;
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  const length = Buffer.byteLength(body);
  return Buffer.from(`${head}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`);
}
