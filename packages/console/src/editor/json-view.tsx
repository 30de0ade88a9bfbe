import { json } from "@codemirror/lang-json";
import { useState } from "preact/hooks";
import { CodeEditor } from "./code-editor.js";

export interface JsonViewProps {
  /** For screen readers. */
  readonly label: string;
  readonly text: string;
}

/** JSON to be read: colours, folding, search. */
export function JsonView({ label, text }: JsonViewProps) {
  return <CodeEditor label={label} text={text} extensions={json()} />;
}

/** The same behind its title; nothing is laid out before it is unfolded. */
export function FoldedJson({ title, label, text }: JsonViewProps & { readonly title: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="raw" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <JsonView label={label} text={text} />}
    </details>
  );
}
