import { type SharedQuery, writeRoute } from "../route.js";

/** Copies a link to the query, or makes it the address of the page. What was done, in words. */
export async function shareLink(shared: SharedQuery): Promise<string> {
  const link = new URL(writeRoute({ view: "query", shared }), window.location.href).href;
  const isCopied = await navigator.clipboard?.writeText(link).then(
    () => true,
    () => false,
  );
  if (isCopied === true) return "A link to this query was copied.";
  window.history.replaceState(null, "", link);
  return "The address of this page is now a link to this query.";
}
