import { isNestedDeeper, ShoalError } from "@shoal/model";
import { JSON_DEPTH_MAX } from "../json/parse-json.js";

/** How an issuer is asked: time and size are bounded, so that a slow or broken one costs nothing else. */
const DOCUMENT_TIMEOUT_MS = 5_000;
export const DOCUMENT_BYTES_MAX = 512 * 1024;

/** Reads a JSON document by GET. Fails on whatever is no response 200 with JSON in it. */
export type DocumentReader = (url: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Reads over HTTP. Redirects are not followed: what an issuer says is believed because of where it was read, and one that
 * sends us elsewhere, a page of a proxy perhaps, does not say it.
 */
export const readDocument: DocumentReader = async (url, signal) => {
  const timeout = AbortSignal.timeout(DOCUMENT_TIMEOUT_MS);
  const response = await fetch(url, {
    // No connection is kept: one that the issuer has closed meanwhile would make the next reading fail.
    headers: { Accept: "application/json", Connection: "close" },
    redirect: "manual",
    signal: AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    throw new ShoalError("unavailable", timeout.aborted ? `no answer in ${DOCUMENT_TIMEOUT_MS} ms` : reasonOf(error));
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    const isRedirect = response.status >= 300 && response.status < 400;
    throw new ShoalError(
      "unavailable",
      `it answered ${response.status}${isRedirect ? ", and redirects are not followed" : ""}`,
    );
  }
  const document: unknown = JSON.parse(await readText(response));
  // It is given on, and could not be written.
  if (isNestedDeeper(document, JSON_DEPTH_MAX)) {
    throw new ShoalError("unavailable", `its answer is nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return document;
};

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > DOCUMENT_BYTES_MAX)
      throw new ShoalError("unavailable", `its answer has more than ${DOCUMENT_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  for (const one of [cause, error]) {
    if (!(one instanceof Error)) continue;
    const code = (one as NodeJS.ErrnoException).code;
    const reason = one.message || code;
    if (reason !== undefined && reason !== "") return reason;
  }
  return String(error);
}
