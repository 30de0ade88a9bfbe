/** What a machine with other work may add to the 99th of a hundred. */
const NOISE_MS = 40;
/** Other work comes and goes; what holds up does so each time. */
const ROUNDS = 3;

type Latencies = Readonly<Record<string, number>>;

/** Fails when what `measure` finds, in milliseconds, is over twice what it found when nothing else was done, each of three times. */
export async function expectNotHeldUp(what: string, idle: Latencies, measure: () => Promise<Latencies>): Promise<void> {
  for (let round = 1; ; round++) {
    const beside = await measure();
    console.log(`${what}: idle`, idle, "beside", beside);
    const slow = Object.entries(beside).filter(([name, ms]) => ms >= Math.max(2 * (idle[name] ?? 0), NOISE_MS));
    if (slow.length === 0) return;
    if (round === ROUNDS) throw new Error(`${what}: idle ${JSON.stringify(idle)}, beside ${JSON.stringify(beside)}`);
  }
}
