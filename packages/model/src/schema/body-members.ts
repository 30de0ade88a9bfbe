import { ShoalError } from "../errors/shoal-error.js";
import { int64Of, JsonNumber } from "../objects/json-number.js";
import { isUncheckedObject, typeName, type UncheckedObject } from "../objects/value-wording.js";

/**
 * Reads typed members of one JSON object of a request body. Member names match in any case, an exact match first; null
 * counts as absent; a member of the wrong type fails with `malformed` in the words of the reference's decoder
 * (reference-rest 1.3, 1.4).
 */
export class BodyMembers {
  /**
   * `parameter` is the body's name in messages; `struct` and `path` name the place: struct `Class` with path `` gives
   * `Class.class`, struct `Property` with path `properties.` gives `Property.properties.name`.
   */
  constructor(
    private readonly object: UncheckedObject,
    private readonly parameter: string,
    private readonly struct: string,
    private readonly path: string,
  ) {}

  /** A whole body: an object, or null, which counts as an empty one. */
  static ofBody(body: unknown, parameter: string, struct: string): BodyMembers {
    if (isUncheckedObject(body)) return new BodyMembers(body, parameter, struct, "");
    if (body === null) return new BodyMembers({}, parameter, struct, "");
    throw undecodable(parameter, `cannot unmarshal ${kind(body)} into Go value of type models.${struct}`);
  }

  /** Undefined when absent or null. */
  value(name: string): unknown {
    const exact = Object.hasOwn(this.object, name) ? this.object[name] : undefined;
    if (exact !== undefined) return exact ?? undefined;
    const wanted = name.toLowerCase();
    const key = Object.keys(this.object).find((candidate) => candidate.toLowerCase() === wanted);
    return key === undefined ? undefined : (this.object[key] ?? undefined);
  }

  string(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.#mismatch(name, value, "string");
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.#mismatch(name, value, "bool");
  }

  /** An integer; one beyond 2^53 is the nearest float64. */
  integer(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const number = int64Of(value);
    if (typeof number === "number") return number;
    const shown = number === "no number" ? value : `number ${value}`;
    throw number === "no number"
      ? this.#mismatch(name, value, "int64")
      : undecodable(
          this.parameter,
          `cannot unmarshal ${shown} into Go struct field ${this.#place(name)} of type int64`,
        );
  }

  strings(name: string): readonly string[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.#mismatch(name, value, "[]string");
    return value.map((item: unknown) => {
      // The reference's decoder leaves the empty string in the place of a null.
      if (item === null) return "";
      if (typeof item === "string") return item;
      throw this.#mismatch(name, item, "string");
    });
  }

  /** A list of objects, each with its own members; `struct` is their name in messages. */
  objects(name: string, struct: string): readonly BodyMembers[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.#mismatch(name, value, `[]*models.${struct}`);
    return value.map((item: unknown) => {
      if (isUncheckedObject(item)) return new BodyMembers(item, this.parameter, struct, `${this.path}${name}.`);
      throw this.#mismatch(name, item, `models.${struct}`);
    });
  }

  /** The members of an object member; undefined when absent. */
  section(name: string, struct: string): BodyMembers | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (isUncheckedObject(value)) return new BodyMembers(value, this.parameter, struct, `${this.path}${name}.`);
    throw this.#mismatch(name, value, `models.${struct}`);
  }

  #place(name: string): string {
    return `${this.struct}.${this.path}${name}`;
  }

  #mismatch(name: string, value: unknown, wanted: string): ShoalError {
    const place = this.#place(name);
    return undecodable(
      this.parameter,
      `cannot unmarshal ${kind(value)} into Go struct field ${place} of type ${wanted}`,
    );
  }
}

/**
 * The members of a free-form config section, whose checks answer with `invalid` in the words of the reference's config
 * parsers. Member names are exact, null counts as absent, and a wrong type is refused, never taken for a default.
 */
export class ConfigMembers {
  /** `prefix` begins every message. Fails with `invalid` unless `section` is an object or absent. */
  constructor(
    private readonly section: unknown,
    private readonly prefix: string,
  ) {
    if (section !== undefined && section !== null && !isUncheckedObject(section)) {
      throw new ShoalError("invalid", `${prefix}input must be a non-nil map`);
    }
  }

  /** An integer from `min` to `max`, or `absent`. */
  integer(name: string, absent: number, min: number, max: number): number {
    const value = this.#value(name);
    if (value === undefined) return absent;
    const number = int64Of(value);
    if (number === "no number") throw this.#wrongType(name, "number", value);
    if (typeof number !== "number") {
      throw new ShoalError("invalid", `${this.prefix}${name}: strconv.ParseInt: parsing "${value}": ${number}`);
    }
    if (number >= min && number <= max) return number;
    throw new ShoalError("invalid", `${this.prefix}${name} must be from ${min} to ${max}, got ${value}`);
  }

  boolean(name: string, absent: boolean): boolean {
    const value = this.#value(name);
    if (value === undefined || typeof value === "boolean") return value ?? absent;
    throw this.#wrongType(name, "bool", value);
  }

  string(name: string, absent: string): string {
    const value = this.#value(name);
    if (value === undefined || typeof value === "string") return value ?? absent;
    throw this.#wrongType(name, "string", value);
  }

  #value(name: string): unknown {
    if (!isUncheckedObject(this.section) || !Object.hasOwn(this.section, name)) return undefined;
    return this.section[name] ?? undefined;
  }

  #wrongType(name: string, wanted: string, value: unknown): ShoalError {
    return new ShoalError(
      "invalid",
      `${this.prefix}field "${name}" must be of type ${wanted}, got: ${typeName(value)}`,
    );
  }
}

/** The kind of a JSON value as the reference's decoder names it. */
function kind(value: unknown): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || value instanceof JsonNumber) return "number";
  return Array.isArray(value) ? "array" : "object";
}

function undecodable(parameter: string, reason: string): ShoalError {
  return new ShoalError("malformed", `parsing ${parameter} body from "" failed, because json: ${reason}`);
}
