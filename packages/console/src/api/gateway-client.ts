import type { Session } from "../session/session.js";
import { messageOf, ServerError } from "./server-error.js";

/** A response with status 200. */
export interface GatewayResponse {
  readonly text: string;
  readonly milliseconds: number;
}

/** Requests to the server that this page came from, as whoever is signed in. */
export class GatewayClient {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Fails with ServerError unless the status is 200. A refused token is refreshed once where that is possible. */
  async get(path: string, signal?: AbortSignal): Promise<GatewayResponse> {
    return this.#send(path, { signal: signal ?? null });
  }

  async post(path: string, body: string, signal?: AbortSignal): Promise<GatewayResponse> {
    return this.#send(path, { method: "POST", body, signal: signal ?? null });
  }

  async #send(path: string, options: RequestInit): Promise<GatewayResponse> {
    const token = await this.#session.token();
    const begun = performance.now();
    let response = await request(path, options, token);
    if (response.status === 401 && token !== undefined) {
      const renewed = await this.#session.renew(token, messageOf(401, response.text));
      response = await request(path, options, renewed);
      if (response.status === 401) this.#session.end(messageOf(401, response.text));
    }
    if (response.status !== 200) throw new ServerError(response.status, messageOf(response.status, response.text));
    return { text: response.text, milliseconds: performance.now() - begun };
  }
}

async function request(path: string, options: RequestInit, token: string | undefined) {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  try {
    const response = await fetch(path, { ...options, headers, cache: "no-store", credentials: "same-origin" });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw new ServerError(0, "is the server running, and does the network reach it?");
  }
}
