/**
 * Owns what a service opens, and closes it in reverse order: what was built on something goes before it. A failing
 * disposal does not keep the others from theirs; its error is thrown at the end (several as an AggregateError).
 */
export class ResourceScope implements AsyncDisposable {
  readonly #disposals: (() => PromiseLike<void> | void)[] = [];
  #disposed = false;

  /** Takes ownership of `resource` and hands it back. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  /** Has `disposal` called in its turn. */
  defer(disposal: () => PromiseLike<void> | void): void {
    if (this.#disposed) throw new Error("the scope is disposed of already");
    this.#disposals.push(disposal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    const errors: unknown[] = [];
    for (let disposal = this.#disposals.pop(); disposal !== undefined; disposal = this.#disposals.pop()) {
      try {
        await disposal();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources could not be closed`);
  }
}
