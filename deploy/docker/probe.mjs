// Asks the internal port of the process in this container: node probe.mjs [/live|/ready]. Exit code 0 when it answers 200.
const path = process.argv[2] ?? "/live";
try {
  const { status } = await fetch(`http://127.0.0.1:${process.env.METRICS_PORT}${path}`, {
    signal: AbortSignal.timeout(2_500),
  });
  process.exitCode = status === 200 ? 0 : 1;
} catch {
  process.exitCode = 1;
}
