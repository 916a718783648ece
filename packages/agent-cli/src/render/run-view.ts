import { type Envelope, type RunResult, textOf } from '@hexagent/agent-core';
import { printErrorRecord } from './error-view.ts';
import type { Output } from './output.ts';
import { oneLine } from './printable.ts';
import { printWaitSummary } from './wait-view.ts';

/** Shows a run while it goes on, and how it ended. */
export interface RunView {
  accept(envelope: Envelope): void;
  finish(result: RunResult<unknown>): void;
}

export type RunViewOptions = {
  /** False when whoever shows the run asks its questions itself. */
  readonly announcesPause?: boolean;
};

/** The view for where the output goes: records, a terminal, or another program. */
export function runView(output: Output, options: RunViewOptions = {}): RunView {
  if (output.mode === 'json') return recordView(output);
  return output.mode === 'terminal' ? terminalView(output, options) : pipeView(output, options);
}

function recordView(output: Output): RunView {
  return {
    accept: (envelope) => output.record('event', envelope),
    finish: (result) => output.record('result', result),
  };
}

/** Text as it comes. What was shown and is taken back later cannot be unprinted: a line says so. */
function terminalView(output: Output, options: RunViewOptions): RunView {
  const shown = new Set<string>();
  let messageId: string | undefined;
  const notes = noteView(output, options);
  return {
    accept: (envelope) => {
      const { event } = envelope;
      if (event.type === 'message-delta' && isOfRoot(envelope)) {
        if (messageId !== event.messageId) output.endLine();
        messageId = event.messageId;
        if (envelope.stepId !== undefined) shown.add(envelope.stepId);
        output.write(output.safe(event.delta));
        return;
      }
      if (event.type === 'rewound' && event.steps.some((step) => shown.has(step))) {
        for (const step of event.steps) shown.delete(step);
        output.note(output.style.attention(`↺ The answer starts again (${event.reason}).`));
        return;
      }
      notes.accept(envelope);
    },
    finish: (result) => {
      if (messageId === undefined && result.text !== '') {
        output.write(output.safe(result.text));
      }
      output.endLine();
      notes.finish(result);
    },
  };
}

/** Only text that nothing takes back any more, so that what the other program reads is the answer. */
function pipeView(output: Output, options: RunViewOptions): RunView {
  const pending = new Map<string, string>();
  let wroteAny = false;
  const flush = (stepId: string): void => {
    const text = pending.get(stepId);
    pending.delete(stepId);
    if (text === undefined || text === '') return;
    output.write(text.endsWith('\n') ? text : `${text}\n`);
    wroteAny = true;
  };
  const notes = noteView(output, options);
  return {
    accept: (envelope) => {
      const { event } = envelope;
      if (event.type === 'message-delta' && isOfRoot(envelope)) {
        const stepId = envelope.stepId ?? '';
        pending.set(stepId, (pending.get(stepId) ?? '') + event.delta);
      } else if (event.type === 'step-finished') flush(event.stepId);
      else if (event.type === 'rewound') for (const step of event.steps) pending.delete(step);
      else notes.accept(envelope);
    },
    finish: (result) => {
      for (const stepId of [...pending.keys()]) flush(stepId);
      if (!wroteAny && result.text !== '') {
        output.write(result.text.endsWith('\n') ? result.text : `${result.text}\n`);
      }
      notes.finish(result);
    },
  };
}

function isOfRoot({ runId, rootRunId }: Envelope): boolean {
  return runId === rootRunId;
}

/** What goes beside the answer: tools, progress, and the end when it is not simply an answer. */
function noteView(output: Output, { announcesPause = true }: RunViewOptions): RunView {
  const { style, note } = output;
  const calls = new Map<string, { readonly toolName: string; input: string }>();
  const width = Math.max(20, output.columns - 4);
  return {
    accept: ({ event }) => {
      if (event.type === 'step-started') {
        output.progress(event.kind === 'tool' ? 'running tools …' : 'thinking …');
      } else if (event.type === 'progress') {
        output.progress(event.message);
      } else if (event.type === 'tool-call-start') {
        calls.set(event.callId, { toolName: event.toolName, input: '' });
      } else if (event.type === 'tool-call-args-delta') {
        const call = calls.get(event.callId);
        if (call !== undefined) call.input += event.delta;
      } else if (event.type === 'tool-call-end') {
        const call = calls.get(event.callId);
        if (call === undefined) return;
        const input = oneLine(call.input, width - call.toolName.length);
        note(`${style.faint('→')} ${style.name(call.toolName)} ${style.faint(input)}`);
      } else if (event.type === 'tool-call-result') {
        const text = oneLine(textOf(event.content), width - event.toolName.length);
        const mark = event.outcome === 'ok' ? style.good('✓') : style.bad(`✗ ${event.outcome}`);
        note(`${mark} ${style.name(event.toolName)} ${style.faint(text)}`);
      } else if (event.type === 'artifact') {
        note(`${style.faint('◆')} ${oneLine(event.name ?? event.artifactId, width)}`);
      }
    },
    finish: (result) => {
      output.progress();
      if (result.kind === 'failed') printErrorRecord(output, result.error);
      else if (result.kind === 'cancelled') {
        const reason = result.reason === undefined ? '' : `: ${output.safe(result.reason)}`;
        note(style.attention(`The run was cancelled${reason}.`));
      } else if (result.kind === 'paused' && announcesPause) {
        note(style.attention(`The run ${result.runId} is paused.`));
        for (const wait of result.waits) printWaitSummary(output, wait);
      }
      if (result.unknownEffects !== undefined && result.unknownEffects.length > 0) {
        note(
          style.attention(
            `Nobody knows whether these calls took effect: ${result.unknownEffects.join(', ')}.`,
          ),
        );
      }
    },
  };
}
