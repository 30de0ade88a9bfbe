import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Session, SessionState } from "./session.js";

/** What is shown instead of the console while nobody is signed in. */
export function SessionGate({ session, state }: { readonly session: Session; readonly state: SessionState }) {
  if (state.kind === "signedOut") {
    return (
      <Notice title="Sign in" text={state.reason ?? "This server asks people to sign in."}>
        {state.withKey && <KeyForm session={session} />}
        {state.withIssuer && (
          <button type="button" class="primary" onClick={() => void session.signIn()}>
            {state.withKey ? "Sign in with the issuer" : "Sign in"}
          </button>
        )}
        {state.canGoOnWithout && (
          <button type="button" onClick={() => session.goOnWithout()}>
            Go on without signing in
          </button>
        )}
      </Notice>
    );
  }
  if (state.kind === "unreachable") {
    return (
      <Notice title={state.error.title} text={state.error.message}>
        <button type="button" class="primary" onClick={() => void session.start()}>
          Try again
        </button>
      </Notice>
    );
  }
  return (
    <main class="notice" aria-busy="true">
      <p class="quiet">One moment…</p>
    </main>
  );
}

/** The browser is not asked to remember the key: it is no password of a person. */
function KeyForm({ session }: { readonly session: Session }) {
  const [key, setKey] = useState("");
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void session.useKey(key);
      }}
    >
      <label>
        API key
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={key.trim() === ""}>
        Use this key
      </button>
    </form>
  );
}

interface NoticeProps {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** A page with one thing to say. */
export function Notice({ title, text, children }: NoticeProps) {
  return (
    <main class="notice">
      <div class="card" role="alert">
        <h1>{title}</h1>
        <p>{text}</p>
        {children !== undefined && <div class="actions">{children}</div>}
      </div>
    </main>
  );
}
