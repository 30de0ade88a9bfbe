/** What must survive the way to the issuer and back. It is used once, and only within `SIGN_IN_MS_MAX`. */
export interface SignInRequest {
  readonly state: string;
  readonly nonce: string;
  /** PKCE: only who has it can use the code that comes back. */
  readonly codeVerifier: string;
  /** Where in the console the person was; always a fragment, so that nobody is led to another page. */
  readonly fragment: string;
  readonly begunAt: number;
}

export const SIGN_IN_MS_MAX = 15 * 60 * 1000;

const KEY = "shoal.console.sign-in";

export function keepSignInRequest(storage: Storage, request: SignInRequest): void {
  storage.setItem(KEY, JSON.stringify(request));
}

/** The request that this tab has sent out, if it is not too old; it cannot be taken twice. */
export function takeSignInRequest(storage: Storage, now: number): SignInRequest | undefined {
  const text = storage.getItem(KEY);
  storage.removeItem(KEY);
  const kept = parsed(text);
  if (kept === undefined) return undefined;
  const { state, nonce, codeVerifier, fragment, begunAt } = kept;
  if (![state, nonce, codeVerifier, fragment].every((one) => typeof one === "string")) return undefined;
  if (typeof begunAt !== "number" || now - begunAt > SIGN_IN_MS_MAX || now < begunAt) return undefined;
  const request = { state, nonce, codeVerifier, fragment, begunAt } as SignInRequest;
  return { ...request, fragment: request.fragment.startsWith("#") ? request.fragment : "" };
}

function parsed(text: string | null): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
