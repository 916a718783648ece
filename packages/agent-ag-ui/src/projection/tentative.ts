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
  #shown: Shown[] = [];

  note(
    kind: Shown['kind'],
    id: string,
    { stepId, seq }: { readonly stepId: string | undefined; readonly seq: number },
  ): void {
    if (stepId === undefined) return;
    const known = this.#shown.find((shown) => shown.kind === kind && shown.id === id);
    if (known === undefined) this.#shown.push({ kind, id, stepId, seq });
    else known.seq = seq;
  }

  /** The step has ended: it stays. */
  settle(stepId: string): void {
    this.#shown = this.#shown.filter((shown) => shown.stepId !== stepId);
  }

  /** What a `rewound` takes back, by its kind; it is forgotten here. */
  take({ steps, after }: Pick<EventOf<'rewound'>, 'steps' | 'after'>): {
    readonly messages: readonly string[];
    readonly progress: readonly string[];
  } {
    const isGone = ({ stepId, seq }: Shown): boolean =>
      steps.includes(stepId) || (after !== undefined && seq > after);
    const gone = this.#shown.filter(isGone);
    this.#shown = this.#shown.filter((shown) => !isGone(shown));
    const idsOf = (wanted: Shown['kind']): readonly string[] =>
      gone.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
    return { messages: idsOf('message'), progress: idsOf('progress') };
  }
}
