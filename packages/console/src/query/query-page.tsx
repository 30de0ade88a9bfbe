import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import type { SchemaState } from "../api/schema-source.js";
import { ServerError } from "../api/server-error.js";
import { parseExact } from "../json/exact-json.js";
import { formatJson } from "../json/format-json.js";
import { type SharedQuery, writeRoute } from "../route.js";
import { readDraft, writeDraft } from "./draft.js";
import { EmptyServer } from "./empty-server.js";
import { readGraphQlAnswer } from "./graphql-answer.js";
import { type HistoryEntry, readHistory, withEntry, writeHistory } from "./history.js";
import { HistoryDrawer } from "./history-drawer.js";
import { prettifyQuery } from "./prettify.js";
import { QueryEditors } from "./query-editors.js";
import { InputProblem, operationNameAt, requestText } from "./request-text.js";
import { type Outcome, ResultPane } from "./result-pane.js";
import { sampleQuery } from "./sample-query.js";
import { Toolbar } from "./toolbar.js";

export interface QueryPageProps {
  readonly client: GatewayClient;
  readonly schema: SchemaState;
  readonly storage: Storage;
  readonly now: () => number;
  /** What came with the address; it replaces what was being written. */
  readonly shared: SharedQuery | undefined;
  readonly onRefresh: () => Promise<void>;
}

const HISTORY_KEY = "shoal.console.history";

export function QueryPage({ client, schema, storage, now, shared, onRefresh }: QueryPageProps) {
  const [draft, setDraft] = useState(() => shared ?? readDraft(storage));
  const [revision, setRevision] = useState(0);
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const [history, setHistory] = useState(() => readHistory(storage.getItem(HISTORY_KEY)));
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const [message, setMessage] = useState<string | undefined>(undefined);
  const view = useRef<EditorView | undefined>(undefined);
  const running = useRef<AbortController | undefined>(undefined);
  /** The draft as it is now, also between two renderings. */
  const latest = useRef(draft);
  /** Somebody has written; an editor that he has emptied stays empty. */
  const isTouched = useRef(false);

  /** What was typed. */
  const type = (typed: Partial<SharedQuery>): void => {
    latest.current = { ...latest.current, ...typed };
    setDraft(latest.current);
    writeDraft(storage, latest.current);
    setMessage(undefined);
  };
  /** What comes from elsewhere than the editors. */
  const write = (next: SharedQuery): void => {
    type(next);
    setRevision((before) => before + 1);
  };
  const keepHistory = (change: (before: readonly HistoryEntry[]) => readonly HistoryEntry[]): void => {
    // Another tab may have added to it.
    const next = change(readHistory(storage.getItem(HISTORY_KEY)));
    setHistory(next);
    keep(storage, HISTORY_KEY, writeHistory(next));
  };

  useEffect(() => {
    if (shared === undefined) return;
    write(shared);
    window.history.replaceState(null, "", writeRoute({ view: "query" }));
  }, [shared]);

  // Nobody begins before an empty page when there is something to ask for.
  useEffect(() => {
    const first = schema.kind === "ready" ? schema.classes[0] : undefined;
    if (first !== undefined && latest.current.query === "" && !isTouched.current)
      write({ ...latest.current, query: sampleQuery(first) });
  }, [schema]);

  useEffect(() => () => running.current?.abort(), []);

  const run = async (): Promise<void> => {
    if (running.current !== undefined) return;
    const { query, variables } = latest.current;
    const abort = new AbortController();
    running.current = abort;
    try {
      const name = operationNameAt(query, view.current?.state.selection.main.head ?? 0);
      const body = requestText(query, variables, name);
      setMessage(undefined);
      setOutcome({ kind: "running" });
      const answer = await client.post("/v1/graphql", body, abort.signal);
      const read = readGraphQlAnswer(answer.text);
      setOutcome({
        kind: "answer",
        ...read,
        operationName: name,
        chars: answer.text.length,
        milliseconds: answer.milliseconds,
      });
      keepHistory((before) => withEntry(before, { query, variables, at: now(), isGood: read.errors.length === 0 }));
    } catch (error) {
      if (error instanceof InputProblem) setMessage(error.message);
      else if (abort.signal.aborted) setOutcome({ kind: "none" });
      else {
        const known = error instanceof ServerError ? error : new ServerError(0, String(error));
        setOutcome({ kind: "failure", error: known });
        keepHistory((before) => withEntry(before, { query, variables, at: now(), isGood: false }));
      }
    } finally {
      running.current = undefined;
    }
  };

  const prettify = (): void => {
    const { query, variables } = latest.current;
    try {
      const tidyVariables = variables.trim() === "" ? "" : formatJson(parseExact(variables));
      write({ query: prettifyQuery(query), variables: tidyVariables });
    } catch (error) {
      setMessage(error instanceof InputProblem ? error.message : "The variables are no JSON.");
    }
  };

  const share = async (): Promise<void> => {
    const link = new URL(writeRoute({ view: "query", shared: latest.current }), window.location.href).href;
    const isCopied = await navigator.clipboard?.writeText(link).then(
      () => true,
      () => false,
    );
    if (isCopied !== true) window.history.replaceState(null, "", link);
    setMessage(
      isCopied === true ? "A link to this query was copied." : "The address of this page is now a link to this query.",
    );
  };

  // Keys are bound once, to what these do now.
  const actions = useRef({ run, prettify });
  actions.current = { run, prettify };

  const isEmpty = schema.kind === "ready" && schema.classes.length === 0;
  return (
    <main class="query-page">
      <section class="pane" aria-label="Query">
        <Toolbar
          isRunning={outcome.kind === "running"}
          onRun={() => void run()}
          onStop={() => running.current?.abort()}
          onPrettify={prettify}
          onShare={() => void share()}
          onHistory={() => setHistoryOpen(true)}
        />
        {message !== undefined && (
          <p class="message" role="status">
            {message}
          </p>
        )}
        <QueryEditors
          draft={draft}
          schema={schema}
          revision={revision}
          onQuery={(query) => {
            isTouched.current = true;
            type({ query });
          }}
          onVariables={(variables) => type({ variables })}
          onRun={() => void actions.current.run()}
          onPrettify={() => actions.current.prettify()}
          onRefresh={onRefresh}
          onView={(editor) => {
            view.current = editor;
          }}
        />
      </section>
      <section class="pane result" aria-label="Result">
        {isEmpty && outcome.kind === "none" ? (
          <EmptyServer onRefresh={onRefresh} />
        ) : (
          <ResultPane outcome={outcome} onPlace={(line, column) => showPlace(view.current, line, column)} />
        )}
      </section>
      <HistoryDrawer
        isOpen={isHistoryOpen}
        history={history}
        now={now()}
        onClose={() => setHistoryOpen(false)}
        onClear={() => keepHistory(() => [])}
        onChoose={({ query, variables }) => {
          write({ query, variables });
          setHistoryOpen(false);
          view.current?.focus();
        }}
      />
    </main>
  );
}

/** A browser may have no room, or forbid it: then it is just not kept. */
function keep(storage: Storage, key: string, text: string): void {
  try {
    storage.setItem(key, text);
  } catch {
    storage.removeItem(key);
  }
}

/** Puts the cursor where an error is. */
function showPlace(view: EditorView | undefined, line: number, column: number): void {
  if (view === undefined || line < 1 || line > view.state.doc.lines) return;
  const { from, to } = view.state.doc.line(line);
  view.dispatch({ selection: { anchor: Math.min(from + Math.max(0, column - 1), to) }, scrollIntoView: true });
  view.focus();
}
