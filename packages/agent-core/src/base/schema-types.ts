/**
 * Types-only copies of two public contracts, so that the core has no dependency:
 * Standard Schema v1 (https://standardschema.dev) and TypeBox's static type slot.
 */

/** The part of Standard Schema v1 that the core uses. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** Standard JSON Schema v1: the optional converter next to `validate`. */
export interface StandardJSONSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What `~standard.validate` answers. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> };

/** A plain JSON Schema object, TypeBox types among them. */
export type JsonSchemaLike = Readonly<Record<string, unknown>> | object;

type Flat<T> = { [K in keyof T]: T[K] } & {};
type Optional = { readonly '~optional': true };

/** The static type of a `typebox` 1.x type, read off its structure. */
type InferTypeBox<S> = S extends { readonly '~unsafe': infer T }
  ? T
  : S extends { '~kind': 'Object'; properties: infer P }
    ? Flat<
        { [K in keyof P as P[K] extends Optional ? never : K]: InferTypeBox<P[K]> } & {
          [K in keyof P as P[K] extends Optional ? K : never]?: InferTypeBox<P[K]>;
        }
      >
    : S extends { '~kind': 'Array'; items: infer I }
      ? InferTypeBox<I>[]
      : S extends { '~kind': 'Tuple'; items: infer I extends readonly unknown[] }
        ? { -readonly [K in keyof I]: InferTypeBox<I[K]> }
        : S extends { '~kind': 'Union'; anyOf: infer U extends readonly unknown[] }
          ? InferTypeBox<U[number]>
          : S extends { '~kind': 'Literal'; const: infer C }
            ? C
            : S extends { '~kind': 'Enum'; enum: infer E extends readonly unknown[] }
              ? E[number]
              : S extends { '~kind': 'Record'; patternProperties: infer P }
                ? Record<string, InferTypeBox<P[keyof P]>>
                : S extends { '~kind': 'String' }
                  ? string
                  : S extends { '~kind': 'Number' | 'Integer' }
                    ? number
                    : S extends { '~kind': 'Boolean' }
                      ? boolean
                      : S extends { '~kind': 'Null' }
                        ? null
                        : unknown;

/**
 * The value type of a schema: Standard Schema's output (Zod, Valibot, ArkType, ...), the `static`
 * slot of `@sinclair/typebox` 0.34, or the structure of a `typebox` 1.x type; else `unknown`.
 */
export type InferSchema<S> =
  S extends StandardSchemaV1<infer _I, infer O>
    ? O
    : S extends { readonly static: infer T }
      ? T
      : S extends { readonly '~kind': string }
        ? InferTypeBox<S>
        : unknown;

/** What a tool's `input` and `output` and an agent's `output` may be. */
export type Schema = StandardSchemaV1 | JsonSchemaLike;
