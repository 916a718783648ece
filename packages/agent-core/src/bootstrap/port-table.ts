import { type Problem, portUnbound } from '../base/error-catalog.ts';
import type { AnyPort, Binding, Port } from '../base/port.ts';

type Entry = { readonly port: AnyPort; readonly from: string; readonly value: unknown };

/** What is bound, and by whom. */
export class PortTable {
  readonly #entries: Entry[] = [];

  add(binding: Binding, from: string): void {
    this.#entries.push({ port: binding.port, value: binding.value, from });
  }

  has(id: string): boolean {
    return this.#entries.some(({ port }) => port.id === id);
  }

  /** The value of a port of arity `one`; `asked` is who asks, for the error. */
  get<T>(port: Port<T>, asked: string): T {
    const entry = this.#entries.find((one) => one.port.id === port.id);
    if (entry === undefined) throw portUnbound(port.id, asked);
    return entry.value as T;
  }

  find<T>(port: Port<T>): T | undefined {
    return this.#entries.find((one) => one.port.id === port.id)?.value as T | undefined;
  }

  all<T>(port: Port<T, 'one' | 'many'>): readonly T[] {
    return this.#entries.filter((one) => one.port.id === port.id).map(({ value }) => value as T);
  }

  /** What `deps` shows for a port: a value, or a list for a port of arity `many`. */
  resolve(port: AnyPort): unknown {
    return port.arity === 'many' ? this.all(port) : this.find(port as Port<unknown>);
  }

  /** Two values for a port that takes one. */
  problems(): readonly Problem[] {
    const first = new Map<string, Entry>();
    const problems: Problem[] = [];
    for (const entry of this.#entries) {
      const known = first.get(entry.port.id);
      if (known === undefined) first.set(entry.port.id, entry);
      else if (entry.port.arity === 'one') {
        problems.push({
          at: entry.from,
          seen: `binds "${entry.port.id}", which ${known.from} binds already.`,
          mend: 'Keep one of them: the port takes a single value.',
        });
      }
    }
    return problems;
  }
}
