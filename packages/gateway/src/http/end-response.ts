import type { ServerResponse } from "node:http";

type Body = string | Uint8Array;

const ending: { readonly response: ServerResponse; readonly body: Body; readonly encoding: BufferEncoding }[] = [];

/**
 * Ends the response with its body at the end of this turn of the event loop, behind those that were given before. Every
 * write that wakes a client takes the processor from the requests that have come meanwhile: answers that go out one
 * behind the other wake it once.
 */
export function endResponse(response: ServerResponse, body: Body, encoding: BufferEncoding): void {
  if (ending.length === 0) setImmediate(endAll);
  ending.push({ response, body, encoding });
}

function endAll(): void {
  for (const { response, body, encoding } of ending.splice(0)) response.end(body, encoding);
}
