import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { editorTheme } from "./editor-theme.js";

export interface CodeEditorProps {
  /** For screen readers. */
  readonly label: string;
  /** What the editor begins with, and shows again when `revision` changes; what is typed stays the editor's own. */
  readonly text: string;
  /** Changes when `text` was changed by somebody else than the editor. A text that can only be read needs none. */
  readonly revision?: number;
  /** Language and what belongs to it; taken once. */
  readonly extensions: Extension;
  /** Before all other keys; taken once. */
  readonly keys?: readonly KeyBinding[];
  readonly placeholder?: string;
  /** Without it the text can only be read. */
  readonly onChange?: (text: string) => void;
  /** Called with the view once it is there. */
  readonly onView?: (view: EditorView) => void;
}

/**
 * A text with line numbers, colours and folding. It stands in a shadow root: CodeMirror then brings its styles as style
 * sheet objects, which the page's Content-Security-Policy admits, and not as inline style elements, which it does not.
 */
export function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const current = useRef(props);
  current.current = props;

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = new EditorView({ root, parent: root, doc: props.text, extensions: extensionsOf(current) });
    view.current = editor;
    current.current.onView?.(editor);
    return () => {
      view.current = undefined;
      editor.destroy();
    };
  }, []);

  // Not at every change of the text: one that was typed comes back late, when the next letter is there already.
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === props.text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.text } });
  }, [props.onChange === undefined ? props.text : props.revision]);

  return <div class="editor" ref={host} />;
}

function extensionsOf(current: { readonly current: CodeEditorProps }): Extension {
  const { extensions, keys = [], label, onChange, placeholder: hint } = current.current;
  const common = [
    Prec.highest(keymap.of([...keys])),
    lineNumbers(),
    foldGutter({ openText: "▾", closedText: "▸" }),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label }),
    keymap.of([...searchKeymap, ...foldKeymap]),
    editorTheme,
    extensions,
  ];
  if (onChange === undefined) {
    return [
      common,
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ tabindex: "0" }),
      keymap.of(defaultKeymap),
    ];
  }
  return [
    common,
    history(),
    indentOnInput(),
    closeBrackets(),
    autocompletion(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    hint === undefined ? [] : placeholder(hint),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) current.current.onChange?.(state.doc.toString());
    }),
  ];
}
