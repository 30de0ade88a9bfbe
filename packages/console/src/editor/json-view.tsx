import { json } from "@codemirror/lang-json";
import { CodeEditor } from "./code-editor.js";

/** JSON to be read: colours, folding, search. */
export function JsonView({ label, text }: { readonly label: string; readonly text: string }) {
  return <CodeEditor label={label} text={text} extensions={json()} />;
}
