/** Calls `act` a pause after the first of the calls that come meanwhile. Keeps no process alive. */
export function oncePerPause(act: () => void, pauseMs: number): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      act();
    }, pauseMs).unref();
  };
}
