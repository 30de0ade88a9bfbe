import { useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import { writeRoute } from "../route.js";
import type { ClassInfo, PropertyInfo } from "./class-info.js";
import { BEFORE_ALL_IDS, readObjects, type StoredObject, summaryOf } from "./stored-object.js";
import { useResponse } from "./use-response.js";

/** One more is asked for than is shown: that tells whether there is another page. */
const PAGE_OBJECTS = 20;

/** The objects of a class in the order of their ids, a page at a time. */
export function ObjectList({ shown, client }: { readonly shown: ClassInfo; readonly client: GatewayClient }) {
  /** The last id of every page before this one. */
  const [pages, setPages] = useState<readonly string[]>([BEFORE_ALL_IDS]);
  const [again, setAgain] = useState(0);
  const after = pages.at(-1) ?? BEFORE_ALL_IDS;
  const path = `/v1/objects?${new URLSearchParams({ class: shown.name, after, limit: String(PAGE_OBJECTS + 1) })}`;
  const loaded = useResponse(client, path, readObjects, again);
  const objects = loaded.kind === "here" ? loaded.value.slice(0, PAGE_OBJECTS) : [];
  const hasMore = loaded.kind === "here" && loaded.value.length > PAGE_OBJECTS;
  const last = objects.at(-1)?.id;
  return (
    <>
      <div class="title-line">
        <h2>Objects</h2>
        <button type="button" class="plain" onClick={() => setAgain(again + 1)}>
          Refresh
        </button>
      </div>
      {loaded.kind === "failed" && (
        <div class="errors" role="alert">
          <h3>{loaded.error.title}</h3>
          <p>{loaded.error.message}</p>
        </div>
      )}
      {loaded.kind === "here" && objects.length === 0 && (
        <p class="hint">{pages.length === 1 ? "This class has no objects." : "There are no more objects."}</p>
      )}
      <ul class="objects" aria-busy={loaded.kind === "loading"}>
        {objects.map((object) => (
          <ObjectRow key={object.id} object={object} order={shown.properties} />
        ))}
      </ul>
      {(pages.length > 1 || hasMore) && (
        <div class="pager">
          <button type="button" disabled={pages.length === 1} onClick={() => setPages(pages.slice(0, -1))}>
            ← Back
          </button>
          <span>Page {pages.length}</span>
          <button
            type="button"
            disabled={!hasMore || last === undefined}
            onClick={() => last !== undefined && setPages([...pages, last])}
          >
            Next →
          </button>
        </div>
      )}
    </>
  );
}

function ObjectRow({ object, order }: { readonly object: StoredObject; readonly order: readonly PropertyInfo[] }) {
  const summary = summaryOf(object, order);
  return (
    <li>
      <a href={writeRoute({ view: "object", id: object.id })}>
        <code>{object.id}</code>
        <span class={summary === "" ? "quiet" : "summary"}>{summary === "" ? "no properties" : summary}</span>
      </a>
    </li>
  );
}
