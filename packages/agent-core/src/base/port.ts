/** A named role that a plugin or the application fills. Compared by `id`, never by object: two copies of core still agree. */
export interface Port<T, A extends 'one' | 'many' = 'one'> {
  readonly id: string;
  readonly arity: A;
  readonly '~type'?: T;
}

export type AnyPort = Port<unknown, 'one' | 'many'>;

/** A value for a port. Made by `bind`, handed to `bootstrap({ provide })` or returned by a plugin's `setup`. */
export interface Binding {
  readonly port: AnyPort;
  readonly value: unknown;
}

/** The ports that a tool or an agent asks for, by the name under which it will see them in `deps`. */
export type Needs = Readonly<Record<string, AnyPort>>;

/** What `deps` is for the given needs: one value for a port of arity `one`, a list for `many`. */
export type Resolved<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Port<infer T, infer A>
    ? 'many' extends A
      ? readonly T[]
      : T
    : never;
};

/** Declares a port. By convention the interface and the port share one name. */
export function definePort<T>(id: string): Port<T>;
export function definePort<T>(id: string, options: { readonly arity: 'many' }): Port<T, 'many'>;
export function definePort<T>(
  id: string,
  options?: { readonly arity: 'many' },
): Port<T, 'one' | 'many'> {
  return Object.freeze({ id, arity: options?.arity ?? 'one' });
}

/** Pairs a port with the value that fills it; the value's type is checked against the port. */
export function bind<T>(port: Port<T, 'one' | 'many'>, value: NoInfer<T>): Binding {
  return Object.freeze({ port, value });
}
