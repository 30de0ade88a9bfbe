import type { EditorView } from "@codemirror/view";
import { useRef, useState } from "preact/hooks";
import type { GatewayClient } from "../api/gateway-client.js";
import type { SchemaState } from "../api/schema-source.js";
import { type SharedQuery, writeRoute } from "../route.js";
import { EmptyServer } from "./empty-server.js";
import { useHistory } from "./history.js";
import { HistoryDrawer } from "./history-drawer.js";
import { QueryEditors } from "./query-editors.js";
import { InputProblem, prettifyDraft } from "./request-text.js";
import { ResultPane } from "./result-pane.js";
import { useDraft } from "./use-draft.js";
import { useRun } from "./use-run.js";

export interface QueryPageProps {
  readonly client: GatewayClient;
  readonly schema: SchemaState;
  readonly storage: Storage;
  readonly now: () => number;
  /** What came with the address; it replaces what was being written. */
  readonly shared: SharedQuery | undefined;
  readonly onRefresh: () => Promise<void>;
}

export function QueryPage({ client, schema, storage, now, shared, onRefresh }: QueryPageProps) {
  const [message, setMessage] = useState<string | undefined>(undefined);
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const view = useRef<EditorView | undefined>(undefined);
  const draft = useDraft({ storage, schema, shared, onChange: () => setMessage(undefined) });
  const history = useHistory(storage);
  const { outcome, start, stop } = useRun({
    client,
    onDone: ({ query, variables }, isGood) => history.add({ query, variables, at: now(), isGood }),
    onMessage: setMessage,
  });

  const run = (): void => void start(draft.latest(), view.current?.state.selection.main.head ?? 0);
  const prettify = (): void => {
    try {
      draft.write(prettifyDraft(draft.latest()));
    } catch (error) {
      if (!(error instanceof InputProblem)) throw error;
      setMessage(error.message);
    }
  };
  const share = (): void => void shareLink(draft.latest()).then(setMessage);
  // Keys are bound once, to what these do now.
  const actions = useRef({ run, prettify });
  actions.current = { run, prettify };

  const isEmpty = schema.kind === "ready" && schema.classes.length === 0;
  return (
    <main class="query-page">
      <section class="pane" aria-label="Query">
        <div class="toolbar" role="toolbar" aria-label="What to do with the query">
          {outcome.kind === "running" ? (
            <button type="button" class="primary" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="button" class="primary" onClick={run} title="Ctrl+Enter or ⌘+Enter">
              <span aria-hidden="true">▶</span> Run
            </button>
          )}
          <button type="button" onClick={prettify} title="Ctrl+Shift+P: lay out query and variables">
            Prettify
          </button>
          <button type="button" onClick={share} title="A link that opens this query">
            Share
          </button>
          <span class="gap" />
          <button type="button" onClick={() => setHistoryOpen(true)} aria-haspopup="dialog">
            History
          </button>
        </div>
        {message !== undefined && (
          <p class="message" role="status">
            {message}
          </p>
        )}
        <QueryEditors
          draft={draft.shown}
          schema={schema}
          revision={draft.revision}
          onQuery={(query) => draft.type({ query })}
          onVariables={(variables) => draft.type({ variables })}
          onRun={() => actions.current.run()}
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
        history={history.entries}
        now={now()}
        onClose={() => setHistoryOpen(false)}
        onClear={history.clear}
        onChoose={({ query, variables }) => {
          draft.write({ query, variables });
          setHistoryOpen(false);
          view.current?.focus();
        }}
      />
    </main>
  );
}

/** Puts the cursor where an error is. */
function showPlace(view: EditorView | undefined, line: number, column: number): void {
  if (view === undefined || line < 1 || line > view.state.doc.lines) return;
  const { from, to } = view.state.doc.line(line);
  view.dispatch({ selection: { anchor: Math.min(from + Math.max(0, column - 1), to) }, scrollIntoView: true });
  view.focus();
}

/** Copies a link to the query, or makes it the address of the page. What was done, in words. */
async function shareLink(shared: SharedQuery): Promise<string> {
  const link = new URL(writeRoute({ view: "query", shared }), window.location.href).href;
  const isCopied = await navigator.clipboard?.writeText(link).then(
    () => true,
    () => false,
  );
  if (isCopied === true) return "A link to this query was copied.";
  window.history.replaceState(null, "", link);
  return "The address of this page is now a link to this query.";
}
