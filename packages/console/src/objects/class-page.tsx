import type { GatewayClient } from "../api/gateway-client.js";
import { FoldedJson } from "../editor/json-view.js";
import { formatJson } from "../json/format-json.js";
import { sampleQuery } from "../query/sample-query.js";
import { writeRoute } from "../route.js";
import { type ClassInfo, isReferenceType, type PropertyInfo } from "./class-info.js";
import { ObjectList } from "./object-list.js";

/** One class: what it is made of, and its objects. */
export function ClassPage({ shown, client }: { readonly shown: ClassInfo; readonly client: GatewayClient }) {
  const { name, description, properties, vectorizer, shards } = shown;
  const shared = { query: sampleQuery(shown), variables: "" };
  return (
    <article class="class-page">
      <header>
        <a class="back" href="#/classes">
          ← Classes
        </a>
        <div class="title-line">
          <h1>{name}</h1>
          <a class="button" href={writeRoute({ view: "query", shared })}>
            Query this class
          </a>
        </div>
        {description !== "" && <p class="description">{description}</p>}
        <p class="chips">
          <span>{vectorizer === "none" ? "vectors are given" : `vectorizer ${vectorizer}`}</span>
          {shards !== undefined && <span>{shards === 1 ? "1 shard" : `${shards} shards`}</span>}
        </p>
      </header>
      <section aria-label="Properties">
        <h2>
          Properties <span class="count">{properties.length}</span>
        </h2>
        {properties.length === 0 ? (
          <p class="hint">This class has no properties.</p>
        ) : (
          <ul class="properties">
            {properties.map((property) => (
              <PropertyRow key={property.name} property={property} />
            ))}
          </ul>
        )}
      </section>
      <section aria-label="Objects">
        <ObjectList shown={shown} client={client} />
      </section>
      <FoldedJson title="Settings as JSON" label={`Settings of ${name}`} text={formatJson(shown.json)} />
    </article>
  );
}

function PropertyRow({ property }: { readonly property: PropertyInfo }) {
  const { name, dataType, description, isIndexed } = property;
  return (
    <li>
      <span class="name">{name}</span>
      <span class="type">
        {isReferenceType(dataType)
          ? dataType.map((target) => (
              <a key={target} href={writeRoute({ view: "classes", className: target })}>
                {target}
              </a>
            ))
          : dataType.join(", ")}
      </span>
      <span class="about">
        {description}
        {!isIndexed && <span class="quiet"> not indexed</span>}
      </span>
    </li>
  );
}
