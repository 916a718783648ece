import type { EventOf } from '@hexagent/agent-core';

/** Something that was shown in a step which may still be taken back. */
type Shown = {
  readonly kind: 'message' | 'progress';
  readonly id: string;
  readonly stepId: string;
  /** Of the last event that belongs to it. */
  seq: number;
};

/** What was shown live, until the step that it belongs to has ended. */
export class Tentative {
  readonly #shown: Readonly<Record<Shown['kind'], Map<string, Shown>>> = {
    message: new Map(),
    progress: new Map(),
  };

  note(
    kind: Shown['kind'],
    id: string,
    { stepId, seq }: { readonly stepId: string | undefined; readonly seq: number },
  ): void {
    if (stepId === undefined) return;
    const known = this.#shown[kind].get(id);
    if (known === undefined) this.#shown[kind].set(id, { kind, id, stepId, seq });
    else known.seq = seq;
  }

  /** The step has ended: it stays. */
  settle(stepId: string): void {
    for (const kept of Object.values(this.#shown))
      for (const shown of kept.values()) if (shown.stepId === stepId) kept.delete(shown.id);
  }

  /** What a `rewound` takes back, by its kind; it is forgotten here. */
  take({ steps, after }: Pick<EventOf<'rewound'>, 'steps' | 'after'>): {
    readonly messages: readonly string[];
    readonly progress: readonly string[];
  } {
    const taken = (kind: Shown['kind']): readonly string[] => {
      const kept = this.#shown[kind];
      const gone = [...kept.values()].filter(
        ({ stepId, seq }) => steps.includes(stepId) || (after !== undefined && seq > after),
      );
      for (const { id } of gone) kept.delete(id);
      return gone.map(({ id }) => id);
    };
    return { messages: taken('message'), progress: taken('progress') };
  }
}
