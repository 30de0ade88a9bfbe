/**
 * Hears what a request does that its answer does not say: the audit log. Whoever knows a fact reports it at once; nothing that
 * is reported is a value that a client has stored.
 */
export interface RequestWitness {
  /** What the request is about, as far as its path does not say it: `class`, `id`, `property`, `role`, `roles`, … */
  concerns(what: string, names: string | readonly string[]): void;
  /** Objects or references of a class that were written, and that were refused. Undefined: the class is not known. */
  wrote(className: string | undefined, accepted: number, refused: number): void;
  /** Auto-schema has made a class, or has added these properties to one; `isUnknown`: or has not, nobody knows. */
  madeSchema(className: string, properties: readonly string[], isNew: boolean, isUnknown: boolean): void;
  /** The principal lacks the right to a part of what the request asked for, which is answered all the same. */
  denied(action: string, resource: string): void;
}
