import { useEffect, useRef } from "preact/hooks";
import { type HistoryEntry, titleOf } from "./history.js";

export interface HistoryDrawerProps {
  readonly isOpen: boolean;
  readonly history: readonly HistoryEntry[];
  readonly now: number;
  readonly onClose: () => void;
  readonly onClear: () => void;
  readonly onChoose: (entry: HistoryEntry) => void;
}

/** The queries that were run in this browser. */
export function HistoryDrawer({ isOpen, history, now, onClose, onClear, onChoose }: HistoryDrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (isOpen && element?.open === false) element.showModal();
    if (!isOpen && element?.open === true) element.close();
  }, [isOpen]);
  // A click beside the drawer closes it, as Escape does by itself.
  useEffect(() => {
    const element = dialog.current;
    const close = (event: MouseEvent): void => {
      if (event.target === element) element?.close();
    };
    element?.addEventListener("click", close);
    return () => element?.removeEventListener("click", close);
  }, []);
  return (
    <dialog class="drawer" ref={dialog} aria-label="History" onClose={onClose}>
      <div class="drawer-inner">
        <header>
          <h2>History</h2>
          <span class="gap" />
          {history.length > 0 && (
            <button type="button" onClick={onClear}>
              Clear
            </button>
          )}
          <button type="button" onClick={onClose}>
            Close
          </button>
        </header>
        {history.length === 0 ? (
          <p class="hint">Queries that you run are kept here, in this browser only.</p>
        ) : (
          <ol>
            {history.map((entry) => (
              <li key={`${entry.at} ${entry.query}`}>
                <button type="button" onClick={() => onChoose(entry)}>
                  <code>{titleOf(entry)}</code>
                  <span class="when">
                    <span class={entry.isGood ? "dot good" : "dot bad"} />
                    {entry.isGood ? "" : "failed, "}
                    {whenOf(entry.at, now)}
                    {entry.variables.trim() === "" ? "" : ", with variables"}
                  </span>
                </button>
              </li>
            ))}
          </ol>
        )}
      </div>
    </dialog>
  );
}

function whenOf(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
