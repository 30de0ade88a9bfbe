import { json, jsonParseLinter } from "@codemirror/lang-json";
import { linter } from "@codemirror/lint";
import type { EditorView, KeyBinding } from "@codemirror/view";
import { graphql, updateSchema } from "cm6-graphql";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { SchemaState } from "../api/schema-source.js";
import { CodeEditor } from "../editor/code-editor.js";
import type { SharedQuery } from "../route.js";

export interface QueryEditorsProps {
  readonly draft: SharedQuery;
  /** Changes when the draft was changed by something else than typing. */
  readonly revision: number;
  readonly schema: SchemaState;
  readonly onQuery: (query: string) => void;
  readonly onVariables: (variables: string) => void;
  readonly onRun: () => void;
  readonly onPrettify: () => void;
  readonly onRefresh: () => Promise<void>;
  readonly onView: (view: EditorView) => void;
}

const parseJson = jsonParseLinter();
/** Nothing at all is fine here. */
const variablesLinter = linter((view) => (view.state.doc.toString().trim() === "" ? [] : parseJson(view)));

/** The query with completion from the live schema, and its variables. */
export function QueryEditors({
  draft,
  revision,
  schema,
  onQuery,
  onVariables,
  onRun,
  onPrettify,
  onRefresh,
  onView,
}: QueryEditorsProps) {
  const [view, setView] = useState<EditorView | undefined>(undefined);
  const [isOpen, setOpen] = useState(draft.variables.trim() !== "");
  const keys = useMemo<readonly KeyBinding[]>(
    () => [
      { key: "Mod-Enter", preventDefault: true, run: () => done(onRun) },
      { key: "Shift-Mod-p", preventDefault: true, run: () => done(onPrettify) },
    ],
    [],
  );
  const queryLanguage = useMemo(() => graphql(undefined, { showErrorOnInvalidSchema: false }), []);
  const jsonLanguage = useMemo(() => [json(), variablesLinter], []);
  const graphqlSchema = schema.kind === "ready" ? schema.graphql : undefined;

  useEffect(() => {
    if (view !== undefined) updateSchema(view, graphqlSchema);
  }, [view, graphqlSchema]);
  useEffect(() => {
    if (draft.variables.trim() !== "") setOpen(true);
  }, [draft.variables]);

  return (
    <>
      <div class="query-editor">
        <CodeEditor
          label="GraphQL query"
          text={draft.query}
          revision={revision}
          extensions={queryLanguage}
          keys={keys}
          placeholder="Write a GraphQL query"
          onChange={onQuery}
          onView={(editor) => {
            setView(editor);
            onView(editor);
          }}
        />
      </div>
      <p class="schema-line">
        <span>{wordsOf(schema)}</span>
        <button type="button" class="plain" onClick={() => void onRefresh()}>
          Refresh
        </button>
      </p>
      <details class="variables" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Variables
          {draft.variables.trim() === "" && <span class="quiet"> none</span>}
        </summary>
        <div class="variables-editor">
          <CodeEditor
            label="Variables as JSON"
            text={draft.variables}
            revision={revision}
            extensions={jsonLanguage}
            keys={keys}
            placeholder='{"vector": [0.1, 0.9]}'
            onChange={onVariables}
          />
        </div>
      </details>
    </>
  );
}

/** Where the completions come from. */
function wordsOf(schema: SchemaState): string {
  if (schema.kind !== "ready") return "Schema: loading…";
  if (schema.problem !== undefined) return `Schema: no completion, ${schema.problem}`;
  const count = schema.classes.length;
  return count === 1 ? "Schema: 1 class" : `Schema: ${count} classes`;
}

function done(action: () => void): true {
  action();
  return true;
}
