import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Names and values of a sample's labels. Values come from code, never from clients: each one is a series for ever. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export interface HistogramSample {
  readonly labels?: Labels;
  /** How many values fell into each bucket, not added up; one more than there are bounds. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

type Read<S> = () => Iterable<S> | Promise<Iterable<S>>;

/**
 * What a process reports about itself, in the text format of Prometheus. Nothing is pushed here: each metric has a function
 * that is asked when somebody scrapes, so that hot paths only add to plain numbers. A reader that fails leaves its
 * metric out of that scrape's values and nothing else.
 */
export class Metrics {
  readonly #registry = new Registry();

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Names of all metrics that were declared, sorted. */
  get names(): readonly string[] {
    return this.#registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .sort();
  }

  /** What only ever grows; its name ends in `_total`. */
  counter(description: MetricDescription, read: Read<Sample>): void {
    const isPlain = description.labelNames === undefined;
    new Counter({
      ...this.#declared(description),
      async collect() {
        const samples = await orNothing(read);
        this.reset();
        // Without labels a reset is a value of 0.
        if (samples.length === 0 && isPlain) this.remove();
        for (const { labels, value } of samples) this.inc(labels ?? {}, value);
      },
    });
  }

  gauge(description: MetricDescription, read: Read<Sample>): void {
    const isPlain = description.labelNames === undefined;
    new Gauge({
      ...this.#declared(description),
      async collect() {
        const samples = await orNothing(read);
        this.reset();
        // Without labels a reset is a value of 0.
        if (samples.length === 0 && isPlain) this.remove();
        for (const { labels, value } of samples) this.set(labels ?? {}, value);
      },
    });
  }

  /** `bounds`: the upper bounds of the buckets, ascending, without the infinite one. */
  histogram(description: MetricDescription, bounds: readonly number[], read: Read<HistogramSample>): void {
    new ReadHistogram({ ...this.#declared(description), buckets: [...bounds] }, bounds, read);
  }

  /** CPU time, memory, event loop and garbage collection of this process, under prom-client's names. */
  describeProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** All of them as they are now. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #declared({ name, help, labelNames = [] }: MetricDescription) {
    return { name, help, labelNames: [...labelNames], registers: [this.#registry] };
  }
}

async function orNothing<S>(read: Read<S>): Promise<readonly S[]> {
  try {
    return [...(await read())];
  } catch {
    return [];
  }
}

/** A histogram whose buckets were counted elsewhere. */
class ReadHistogram extends Histogram {
  /** The same without values: the type of a metric is another at run time than the declarations of prom-client say. */
  readonly #empty: Histogram;
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #read: Read<HistogramSample>;

  constructor(
    description: ConstructorParameters<typeof Histogram<string>>[0],
    bounds: readonly number[],
    read: Read<HistogramSample>,
  ) {
    super(description);
    this.#empty = new Histogram({ ...description, registers: [] });
    this.#name = description.name;
    this.#bounds = bounds;
    this.#read = read;
  }

  override async get(): ReturnType<Histogram["get"]> {
    const described = await this.#empty.get();
    const values = (await orNothing(this.#read)).flatMap((sample) => this.#valuesOf(this.#name, sample));
    return { ...described, values };
  }

  /** What the registry asks when it writes text. */
  getForPromString(): ReturnType<Histogram["get"]> {
    return this.get();
  }

  #valuesOf(name: string, { labels = {}, counts, sum }: HistogramSample) {
    let count = 0;
    const buckets = [...this.#bounds, "+Inf" as const].map((le, at) => {
      count += counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
