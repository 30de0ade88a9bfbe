import { useEffect, useMemo, useState } from "preact/hooks";
import { type Route, readRoute } from "./route.js";
import type { Source } from "./source.js";

/** The state of a source, as it changes. */
export function useSource<T>(source: Source<T>): T {
  const [state, setState] = useState(source.state);
  useEffect(() => {
    const read = (): void => setState(source.state);
    read();
    return source.subscribe(read);
  }, [source]);
  return state;
}

/** What the address says, as it changes. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setFragment(location.hash);
    read();
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  // The same value as long as the address is the same.
  return useMemo(() => readRoute(fragment), [fragment]);
}
