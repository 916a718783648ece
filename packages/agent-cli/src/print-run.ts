import type { RunHandle, RunResult } from '@hexagent/agent-core';
import { type OutputIo, openOutput } from './render/output.ts';
import { runView } from './render/run-view.ts';

export type PrintRunOptions = {
  /** Stop printing; the run itself goes on. */
  readonly signal?: AbortSignal;
  /** Default: those of the process. */
  readonly streams?: OutputIo;
};

/**
 * Prints a streaming answer and resolves with the result of the run. The answer goes to stdout, tools
 * and how the run ended to stderr, as `hexagent run` does it. When the reader of stdout leaves, printing stops;
 * when stdout cannot be written for another reason, such as a full disk, it rejects with that error.
 *
 * @example
 * await printRun(await app.start(assistant, 'What is 2 + 40?'));
 */
export async function printRun<Output>(
  run: RunHandle<Output>,
  { signal, streams = process }: PrintRunOptions = {},
): Promise<RunResult<Output>> {
  let hasReader = true;
  const failures: Error[] = [];
  const output = openOutput(streams, {
    json: false,
    onClosed: () => {
      hasReader = false;
    },
    onFailed: (error) => {
      hasReader = false;
      failures.push(error);
    },
  });
  const view = runView(output);
  try {
    for await (const envelope of run.events({ signal })) {
      if (!hasReader) break;
      view.accept(envelope);
    }
    const result = await run.result;
    view.finish(result);
    await output.flushed({ signal });
    for (const failure of failures) throw failure;
    return result;
  } finally {
    output.progress();
    output.release();
  }
}
