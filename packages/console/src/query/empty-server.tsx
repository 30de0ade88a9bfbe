const FIRST_CLASS = `curl ORIGIN/v1/schema -H 'content-type: application/json' \\
  -d '{"class":"Word","properties":[{"name":"text","dataType":["text"]}]}'`;
const FIRST_OBJECT = `curl ORIGIN/v1/objects -H 'content-type: application/json' \\
  -d '{"class":"Word","properties":{"text":"hello"},"vector":[0.1,0.9]}'`;

/** What there is to do on a server that holds nothing yet. */
export function EmptyServer({ onRefresh }: { readonly onRefresh: () => Promise<void> }) {
  const here = (command: string): string => command.replaceAll("ORIGIN", window.location.origin);
  return (
    <div class="empty">
      <h2>No classes yet</h2>
      <p>There is nothing to query until the schema has a class. These two commands make one and store an object:</p>
      <pre>{here(FIRST_CLASS)}</pre>
      <pre>{here(FIRST_OBJECT)}</pre>
      <button type="button" onClick={() => void onRefresh()}>
        Look again
      </button>
    </div>
  );
}
