export interface ToolbarProps {
  readonly isRunning: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onPrettify: () => void;
  readonly onShare: () => void;
  readonly onHistory: () => void;
}

export function Toolbar({ isRunning, onRun, onStop, onPrettify, onShare, onHistory }: ToolbarProps) {
  return (
    <div class="toolbar" role="toolbar" aria-label="What to do with the query">
      {isRunning ? (
        <button type="button" class="primary" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="button" class="primary" onClick={onRun} title="Ctrl+Enter or ⌘+Enter">
          <span aria-hidden="true">▶</span> Run
        </button>
      )}
      <button type="button" onClick={onPrettify} title="Ctrl+Shift+P: lay out query and variables">
        Prettify
      </button>
      <button type="button" onClick={onShare} title="A link that opens this query">
        Share
      </button>
      <span class="gap" />
      <button type="button" onClick={onHistory} aria-haspopup="dialog">
        History
      </button>
    </div>
  );
}
