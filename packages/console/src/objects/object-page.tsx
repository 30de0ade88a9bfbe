import type { GatewayClient } from "../api/gateway-client.js";
import { FoldedJson } from "../editor/json-view.js";
import { parseExact } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";
import { writeRoute } from "../route.js";
import { Notice } from "../session/session-gate.js";
import { PropertyValue } from "./property-value.js";
import { readObject, type StoredObject } from "./stored-object.js";
import { useResponse } from "./use-response.js";

/** How much of a vector is shown before it is unfolded. */
const VECTOR_START = 6;

/** One object, whole. */
export function ObjectPage({ id, client }: { readonly id: string; readonly client: GatewayClient }) {
  const path = `/v1/objects/${id}?include=vector`;
  const loaded = useResponse(client, path, (text) => readObject(parseExact(text)));
  if (loaded.kind === "loading") return <main class="object-page" aria-busy="true" />;
  if (loaded.kind === "failed") {
    const { status, title, message } = loaded.error;
    const text = status === 404 ? `There is no object with the id ${id}.` : message;
    return (
      <Notice title={status === 404 ? "No such object" : title} text={text}>
        <a class="button" href="#/classes">
          To the classes
        </a>
      </Notice>
    );
  }
  return <Shown object={loaded.value} />;
}

function Shown({ object }: { readonly object: StoredObject }) {
  const { id, className, createdAt, updatedAt, properties, json } = object;
  return (
    <main class="object-page">
      <header>
        <a class="back" href={writeRoute({ view: "classes", className })}>
          ← {className}
        </a>
        <h1>
          <code>{id}</code>
        </h1>
        <p class="chips">
          <span>{className}</span>
          {createdAt !== undefined && <span>created {timeOf(createdAt)}</span>}
          {updatedAt !== undefined && updatedAt !== createdAt && <span>changed {timeOf(updatedAt)}</span>}
        </p>
      </header>
      <section aria-label="Properties">
        <h2>Properties</h2>
        {properties.size === 0 ? (
          <p class="hint">This object has no properties.</p>
        ) : (
          <dl>
            {[...properties].map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <PropertyValue value={value} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </section>
      <VectorPart object={object} />
      <FoldedJson title="All of it as JSON" label="The object as JSON" text={formatJson(json)} />
    </main>
  );
}

function VectorPart({ object: { vector } }: { readonly object: StoredObject }) {
  const start = vector?.slice(0, VECTOR_START).map(String).join(", ");
  return (
    <section aria-label="Vector">
      <h2>
        Vector
        {vector !== undefined && (
          <>
            {" "}
            <span class="count">{vector.length}</span>
          </>
        )}
      </h2>
      {vector === undefined ? (
        <p class="hint">This object has no vector.</p>
      ) : vector.length <= VECTOR_START ? (
        <code class="vector">{start}</code>
      ) : (
        <details>
          <summary>
            <code class="vector">{start}, …</code>
          </summary>
          <code class="vector">{vector.map(String).join(", ")}</code>
        </details>
      )}
    </section>
  );
}

function timeOf(unixMs: number): string {
  return new Date(unixMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
