/** What a piece of the model's text means for the client. */
export type AnswerPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call-start'; readonly index: number; readonly name: string }
  | { readonly type: 'call-arguments'; readonly index: number; readonly text: string };

/** Reads the model's text as it grows. */
export interface AnswerReader {
  push(text: string): void;
  /** Nothing comes any more: what was held back is given out as it is. */
  end(): void;
}

const CALL_START = '<tool_call>';
const CALL_END = '}</tool_call>';
const CALL_HEAD = /^\{"name":"([^"]+)","arguments":/;

/** Tells text from tool calls, each as early as it can be told. */
export function answerReader(show: (piece: AnswerPiece) => void): AnswerReader {
  let pending = '';
  let index = -1;
  let state: 'text' | 'head' | 'arguments' = 'text';

  const showText = (text: string): void => {
    if (text === '') return;
    show(state === 'text' ? { type: 'text', text } : { type: 'call-arguments', index, text });
  };
  /** Shows what stands before the mark, and keeps what may become it; true when the mark has come. */
  const readTo = (mark: string): boolean => {
    const at = pending.indexOf(mark);
    const end = at >= 0 ? at : pending.length - held(pending, mark);
    showText(pending.slice(0, end));
    pending = pending.slice(at >= 0 ? at + mark.length : end);
    return at >= 0;
  };
  /** One step; false when more text is needed. */
  const step = (): boolean => {
    if (state === 'head') {
      const head = CALL_HEAD.exec(pending);
      if (head === null) return false;
      pending = pending.slice(head[0].length);
      index += 1;
      state = 'arguments';
      show({ type: 'call-start', index, name: head[1] ?? '' });
      return true;
    }
    if (!readTo(state === 'text' ? CALL_START : CALL_END)) return false;
    state = state === 'text' ? 'head' : 'text';
    return true;
  };

  return {
    push(text) {
      pending += text;
      while (step());
    },
    end() {
      if (state !== 'head') showText(pending);
      pending = '';
    },
  };
}

/** How much of the end of a text may be the beginning of a mark. */
function held(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
