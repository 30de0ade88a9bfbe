/** What went wrong with a request, in words for people. */
export class ServerError extends Error {
  constructor(
    /** 0: there was no response. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  static from(thrown: unknown): ServerError {
    return thrown instanceof ServerError ? thrown : new ServerError(0, String(thrown));
  }

  /** What the status means here; the message says the rest. */
  get title(): string {
    const { status } = this;
    return TITLES.get(status) ?? (status >= 400 ? `The server answered with status ${status}` : "Something went wrong");
  }
}

const TITLES: ReadonlyMap<number, string> = new Map([
  [0, "No answer from the server"],
  [401, "Your sign-in was not accepted"],
  [403, "You lack a permission"],
  [404, "Not found"],
  [413, "Too large"],
  [422, "The server could not work with this"],
  [429, "The server is busy"],
  [500, "The server failed"],
  [503, "Not available right now"],
  [504, "It took too long"],
]);

/** The messages of an error body, `{"error":[{"message":…}]}`; the text itself when it is something else. */
export function messageOf(status: number, text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    const errors = typeof body === "object" && body !== null ? (body as { error?: unknown }).error : undefined;
    if (Array.isArray(errors)) {
      const messages = errors.flatMap((one: unknown) => {
        const message = typeof one === "object" && one !== null ? (one as { message?: unknown }).message : undefined;
        return typeof message === "string" ? [message] : [];
      });
      if (messages.length > 0) return messages.join("; ");
    }
  } catch {
    // No JSON: something between us and the server has answered.
  }
  const plain = text.trim();
  if (plain === "" || plain.startsWith("<")) return `status ${status} without a message`;
  return plain.length > 500 ? `${plain.slice(0, 500)}…` : plain;
}
