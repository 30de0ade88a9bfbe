import { useEffect, useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import { ServerError } from "../api/server-error.js";

export type Loaded<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "here"; readonly value: T }
  | { readonly kind: "failed"; readonly error: ServerError };

/** What `read` makes of the response to GET `path`; asked for again when the path changes, or `again` does. */
export function useResponse<T>(client: GatewayClient, path: string, read: (text: string) => T, again = 0): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ kind: "loading" });
  useEffect(() => {
    const abort = new AbortController();
    client.get(path, abort.signal).then(
      ({ text }) => setLoaded({ kind: "here", value: read(text) }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setLoaded({ kind: "failed", error: ServerError.from(error) });
      },
    );
    return () => abort.abort();
  }, [client, path, again]);
  return loaded;
}
