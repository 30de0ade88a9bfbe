import { useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import type { SchemaState } from "../api/schema-source.js";
import { EmptyServer } from "../query/empty-server.js";
import { writeRoute } from "../route.js";
import type { ClassInfo } from "./class-info.js";
import { ClassPage } from "./class-page.js";

export interface ClassesPageProps {
  /** The class to show; none on a phone shows the list, on wider pages a hint beside it. */
  readonly className: string | undefined;
  readonly client: GatewayClient;
  readonly schema: SchemaState;
  readonly onRefresh: () => Promise<void>;
}

/** Above this many classes there is a field to find one. */
const CLASSES_WITHOUT_FILTER = 8;

export function ClassesPage({ className, client, schema, onRefresh }: ClassesPageProps) {
  if (schema.kind !== "ready") return <main class="classes-page" aria-busy="true" />;
  if (schema.classes.length === 0) {
    return (
      <main class="notice">
        <EmptyServer onRefresh={onRefresh} />
      </main>
    );
  }
  const chosen = schema.classes.find(({ name }) => name === className);
  return (
    <main class={className === undefined ? "classes-page" : "classes-page with-class"}>
      <ClassList classes={schema.classes} className={className} />
      <div class="class-side">
        {chosen !== undefined ? (
          <ClassPage key={chosen.name} shown={chosen} client={client} />
        ) : (
          <p class="hint">
            {className === undefined
              ? "Choose a class to see its properties and objects."
              : `There is no class ${className}.`}
          </p>
        )}
      </div>
    </main>
  );
}

function ClassList({
  classes,
  className,
}: {
  readonly classes: readonly ClassInfo[];
  readonly className: string | undefined;
}) {
  const [filter, setFilter] = useState("");
  const shown = classes.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()));
  return (
    <nav class="class-list" aria-label="Classes">
      <h2>
        Classes <span class="count">{classes.length}</span>
      </h2>
      {classes.length > CLASSES_WITHOUT_FILTER && (
        <input
          type="search"
          placeholder="Find a class"
          aria-label="Find a class"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <ul>
        {shown.map((one) => (
          <li key={one.name}>
            <a
              href={writeRoute({ view: "classes", className: one.name })}
              aria-current={one.name === className ? "page" : undefined}
            >
              <span class="name">{one.name}</span>
              <span class="quiet">{propertiesOf(one)}</span>
            </a>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="hint">No class has that in its name.</p>}
    </nav>
  );
}

function propertiesOf({ properties }: ClassInfo): string {
  return properties.length === 1 ? "1 property" : `${properties.length} properties`;
}
