import { type AGUIEvent, EventType } from '@ag-ui/core';
import { attributed, type Owner } from './attribution.ts';

/** What is open in a stream and has to be closed before its end. */
export type Frame = {
  readonly kind: 'text' | 'reasoning' | 'call' | 'step';
  readonly id: string;
  readonly owner: Owner;
  /** The step of the run that it is shown in. */
  readonly stepId: string | undefined;
};

/**
 * The frames of one stream that are open. Of text and reasoning one at a time is open for each run, and a call opens only
 * behind both: clients of before 1.0 take nothing else.
 */
export class Frames {
  readonly #open = new Map<string, Frame>();
  /** The text or reasoning of each run that is being said. */
  readonly #said = new Map<Owner, Frame>();

  has(kind: Frame['kind'], id: string, owner: Owner): boolean {
    return this.#open.has(keyOf({ kind, id, owner }));
  }

  /** The events that have to stand before a frame of this kind, and the frame is open. */
  open(frame: Frame): readonly AGUIEvent[] {
    const said = frame.kind === 'step' ? undefined : this.#said.get(frame.owner);
    const closed = said === undefined ? [] : this.#end(said);
    this.#open.set(keyOf(frame), frame);
    if (isSaid(frame)) this.#said.set(frame.owner, frame);
    return closed;
  }

  /** Closes one frame, where it is open. */
  closeOne(kind: Frame['kind'], id: string, owner: Owner): readonly AGUIEvent[] {
    const frame = this.#open.get(keyOf({ kind, id, owner }));
    return frame === undefined ? [] : this.#end(frame);
  }

  /** Closes the frames that are meant, the last one first. */
  close(isMeant: (frame: Frame) => boolean): readonly AGUIEvent[] {
    return [...this.#open.values()]
      .filter(isMeant)
      .reverse()
      .flatMap((frame) => this.#end(frame));
  }

  #end(frame: Frame): readonly AGUIEvent[] {
    this.#open.delete(keyOf(frame));
    if (this.#said.get(frame.owner) === frame) this.#said.delete(frame.owner);
    return ends(frame);
  }
}

/** Steps of two runs may have one name. None of our ids has a space in it. */
function keyOf({ kind, id, owner }: Pick<Frame, 'kind' | 'id' | 'owner'>): string {
  return `${kind} ${id} ${owner ?? ''}`;
}

function isSaid({ kind }: Frame): boolean {
  return kind === 'text' || kind === 'reasoning';
}

function ends({ kind, id, owner }: Frame): readonly AGUIEvent[] {
  const mark = attributed(owner);
  switch (kind) {
    case 'text':
      return [{ type: EventType.TEXT_MESSAGE_END, messageId: id, ...mark }];
    case 'reasoning':
      return [
        { type: EventType.REASONING_MESSAGE_END, messageId: id, ...mark },
        { type: EventType.REASONING_END, messageId: id, ...mark },
      ];
    case 'call':
      return [{ type: EventType.TOOL_CALL_END, toolCallId: id, ...mark }];
    case 'step':
      return [{ type: EventType.STEP_FINISHED, stepName: id, ...mark }];
  }
}
