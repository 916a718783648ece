import type { RunId, WaitId, WaitKind } from '@hexagent/agent-core';
import { idAt, type Plan, TOOLS, type Told, type ToolName } from './plan.ts';

type Admission = 'reject' | 'queue' | 'interrupt';

/** A call as its user may expect it. */
export type ExpectedCall = {
  readonly tool: ToolName;
  id: string;
  /** Its argument is another one than the model's: a person's. */
  edited?: true;
  /** What was decided, where somebody has to decide. */
  decision?: 'approve' | 'reject' | { readonly said: string } | 'nothing';
  /**
   * An event came in time, and whoever was to read it left over it: it counts if somebody reads it before the time of
   * its call is over.
   */
  unread?: string;
  /** A person gave up on finding out whether it happened. */
  abandoned?: true;
};

/** A question that somebody may answer now. */
export type OpenQuestion = {
  readonly id: WaitId;
  readonly kind: WaitKind;
  readonly run: ExpectedRun;
  readonly call: ExpectedCall | undefined;
  readonly callId: string | undefined;
  readonly expiresAt: number | undefined;
};

/** A run as its user may expect it, whatever crashes: no process, no lease and no commit is in here. */
export class ExpectedRun {
  readonly key: string;
  readonly runId: RunId;
  readonly conversation: string;
  /** What was asked for, should another run of the conversation be open; a fork asks for nothing. */
  readonly admission: Admission | undefined;
  readonly plan: Plan;
  readonly calls: readonly (readonly ExpectedCall[])[];
  /** What users said, in order; follow-ups are read last. */
  readonly said: string[] = [];
  readonly followUps: string[] = [];
  paused = false;
  cancelled = false;
  /** Who cancelled it left before anybody read that: a worker will. */
  cancelUnread = false;
  /** It was seen to have ended, as expected. */
  ended = false;

  constructor(given: {
    readonly key: string;
    readonly runId: RunId;
    readonly conversation: string;
    readonly admission: Admission | undefined;
    readonly plan: Plan;
  }) {
    this.key = given.key;
    this.runId = given.runId;
    this.conversation = given.conversation;
    this.admission = given.admission;
    this.plan = given.plan;
    this.calls = given.plan.map((batch, at) =>
      batch.map((tool, index): ExpectedCall => ({ tool, id: idAt(at, index) })),
    );
  }

  /** The first batch in which somebody has to decide something; behind the last one the run has its answer. */
  get at(): number {
    const open = this.calls.findIndex((batch) => batch.some(isUndecided));
    return open === -1 ? this.calls.length : open;
  }

  /** `{run}.{step}.{index}`, both from the model's answers: the batches of the plan, in order. */
  placeOf(callId: string): { readonly batch: number; readonly call: ExpectedCall } {
    const [, step, index] = callId.split('.').map(Number);
    const batch = Number(step) - 1;
    const call = this.calls[batch]?.[Number(index)];
    if (call === undefined) throw new Error(`the plan has no call ${callId}`);
    return { batch, call };
  }

  /** What the model says at the end. */
  get told(): Told {
    return {
      results: this.calls.flat().map(resultOf),
      heard: [...this.said, ...this.followUps],
    };
  }
}

export function isUndecided({ tool, decision }: ExpectedCall): boolean {
  return TOOLS[tool].asks && decision === undefined;
}

/** What the model reads of a call. */
function resultOf({ tool, id, decision, abandoned, edited }: ExpectedCall): string {
  if (abandoned) return 'interrupted';
  if (decision === 'reject') return 'denied';
  const note = edited ? `[ran with arguments edited by a person: ${JSON.stringify({ id })}]` : '';
  if (tool !== 'listen') return `${note}${tool} ${id}`;
  return typeof decision === 'object' ? `heard ${decision.said}` : 'heard nothing';
}

/** How often the call may have taken effect, at least and at most, in a run that has its answer. */
export function deedsOf({ tool, decision, abandoned }: ExpectedCall): readonly [number, number] {
  if (!TOOLS[tool].deed || decision === 'reject') return [0, 0];
  return abandoned ? [0, 1] : [1, 1];
}

/** Everything that users may expect. */
export class Expected {
  readonly runs: ExpectedRun[] = [];
  /** As of the last look. */
  questions: readonly OpenQuestion[] = [];
  /** Questions whether an effect happened, seen so far. */
  readonly doubts: Set<WaitId> = new Set();
  #names = 0;

  name(): string {
    this.#names += 1;
    return `n${this.#names}`;
  }

  /** The run that keeps a conversation from having another one. */
  openIn(conversation: string): ExpectedRun | undefined {
    return this.runs.find((run) => run.conversation === conversation && !run.ended);
  }
}
