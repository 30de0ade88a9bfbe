export type Scalar = "String" | "Int" | "Float" | "Boolean";

/** A value that clients send; absent and null mean the same, and null only fits what is not required. */
export interface InputField {
  readonly type: Scalar | InputShape;
  /** A list of such values; one value stands for a list of it. */
  readonly list?: true;
  readonly required?: true;
  readonly description?: string;
}

export type InputFields = Readonly<Record<string, InputField>>;

/** An object that clients send. */
export interface InputShape {
  /** What its GraphQL type's name ends with, behind the module's prefix and the class. */
  readonly typeSuffix: string;
  readonly fields: InputFields;
}

/** A value that clients get; it may be null everywhere. */
export interface OutputField {
  readonly type: Scalar | OutputShape;
  readonly list?: true;
}

/** An object that clients get. Members that it lacks are null. */
export interface OutputShape {
  /** What its GraphQL type's name ends with, behind `<Class>Additional`. */
  readonly typeSuffix: string;
  readonly fields: Readonly<Record<string, OutputField>>;
}
