/** Calls `act` a pause after the first of the calls that come meanwhile. Keeps no process alive. */
export function oncePerPause(act: () => void, pauseMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      act();
    }, pauseMs).unref();
  };
}
