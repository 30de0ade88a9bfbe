import { useEffect, useMemo } from "preact/hooks";
import { GatewayClient } from "./api/gateway-client.js";
import { SchemaSource } from "./api/schema-source.js";
import { ClassesPage } from "./objects/classes-page.js";
import { ObjectPage } from "./objects/object-page.js";
import { QueryPage } from "./query/query-page.js";
import type { Session, SessionState } from "./session/session.js";
import { Notice, SessionGate } from "./session/session-gate.js";
import { useRoute, useSource } from "./use-source.js";

export interface AppProps {
  readonly session: Session;
  /** For the history and the query that is being written. Never for tokens. */
  readonly storage: Storage;
  readonly now: () => number;
}

/** The frame: who is signed in, where one is, and the page. */
export function App({ session, storage, now }: AppProps) {
  const state = useSource(session);
  const route = useRoute();
  const isIn = state.kind === "open" || state.kind === "signedIn";
  return (
    <div class="frame">
      <header class="bar">
        <a class="brand" href="#/query">
          <img src="/console/icon.svg" alt="" width="24" height="24" />
          <span>Shoal</span>
        </a>
        {isIn && (
          <nav aria-label="Views">
            <a href="#/query" aria-current={route.view === "query" ? "page" : undefined}>
              Query
            </a>
            <a href="#/classes" aria-current={route.view === "query" ? undefined : "page"}>
              Classes
            </a>
          </nav>
        )}
        <Account session={session} state={state} />
      </header>
      {isIn ? <Pages session={session} storage={storage} now={now} /> : <SessionGate session={session} state={state} />}
    </div>
  );
}

function Account({ session, state }: { readonly session: Session; readonly state: SessionState }) {
  if (state.kind === "signedIn") {
    return (
      <div class="account">
        <span class="user" title={state.name}>
          {state.name}
        </span>
        <button type="button" onClick={() => void session.signOut()}>
          Sign out
        </button>
      </div>
    );
  }
  if (state.kind !== "open" || !state.canSignIn) return <div class="account" />;
  return (
    <div class="account">
      <span class="user">anonymous</span>
      <button type="button" onClick={() => void session.chooseSignIn()}>
        Sign in
      </button>
    </div>
  );
}

function Pages({ session, storage, now }: AppProps) {
  const client = useMemo(() => new GatewayClient(session), [session]);
  const schema = useMemo(() => new SchemaSource(client), [client]);
  useEffect(() => schema.follow(), [schema]);
  const schemaState = useSource(schema);
  const route = useRoute();
  if (schemaState.kind === "failed" && route.view !== "object") {
    const { error } = schemaState;
    return (
      <Notice title={error.title} text={error.message}>
        <button type="button" class="primary" onClick={() => void schema.refresh()}>
          Try again
        </button>
      </Notice>
    );
  }
  if (route.view === "object") return <ObjectPage key={route.id} id={route.id} client={client} />;
  if (route.view === "classes") {
    return (
      <ClassesPage
        className={route.className}
        client={client}
        schema={schemaState}
        onRefresh={() => schema.refresh()}
      />
    );
  }
  return (
    <QueryPage
      client={client}
      schema={schemaState}
      storage={storage}
      now={now}
      shared={route.shared}
      onRefresh={() => schema.refresh()}
    />
  );
}
