import type { Message, RunHandle, RunResult, Wait } from '@hexagent/agent-core';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.ts';
import { askAbout } from './ask-about.ts';
import { cancelOnInterrupt } from './cancel-run.ts';
import type { ChatSession } from './chat-state.ts';
import { followRun } from './follow-run.ts';

/** Starts a run for one message and stays with it to its end, or until its waits are left for later. */
export async function sendMessage(session: ChatSession, message: string): Promise<ExitCode> {
  const { app, caller, agent, memory } = session;
  const input =
    memory.kind === 'conversation'
      ? { message, conversationId: memory.conversationId }
      : { message, history: [...memory.messages] };
  const result = await stayWith(session, await app.runs.start(agent, input, caller));
  if (memory.kind === 'history' && result.kind === 'completed') {
    memory.messages.push(said('user', message), said('assistant', result.text));
  }
  return exitCodeOf(result.kind);
}

/** Goes on with a paused run that an earlier chat left in this conversation. */
export async function takeUp(session: ChatSession): Promise<ExitCode> {
  const { app, caller, memory } = session;
  if (memory.kind !== 'conversation') return EXIT.completed;
  const query = { conversationId: memory.conversationId, status: 'interrupted' as const, limit: 1 };
  const [run] = (await app.runs.list(query, caller)).items;
  if (run === undefined) return EXIT.completed;
  const handle = await app.runs.resume(run.rootRunId, caller);
  return exitCodeOf((await stayWith(session, handle)).kind);
}

async function stayWith(session: ChatSession, started: RunHandle): Promise<RunResult<unknown>> {
  const { app, caller, output, interrupts } = session;
  const onInterrupt = cancelOnInterrupt(session, { runId: started.runId, output });
  let handle = started;
  let after: number | undefined;
  for (;;) {
    const { result, lastSeq } = await followRun(handle, {
      output,
      interrupts,
      onInterrupt,
      after,
      announcesPause: false,
    });
    if (result.kind !== 'paused') return result;
    if (!(await answerAll(session, result.waits))) return result;
    after = lastSeq;
    handle = await app.runs.resume(result.runId, caller);
  }
}

/** False when something was left open: then the run stays paused. */
async function answerAll(session: ChatSession, waits: readonly Wait[]): Promise<boolean> {
  const { app, caller, output } = session;
  for (const wait of waits) {
    const answer = await askAbout(session, wait);
    if (answer === 'interrupted') {
      await app.runs.cancel(wait.rootRunId, 'interrupted at the terminal', caller);
      return true;
    }
    if (answer === undefined) {
      output.note(
        output.style.faint(
          `Left for later: hexagent waits list --run ${wait.rootRunId}\nUntil it is answered, this conversation takes no other message.`,
        ),
      );
      return false;
    }
    await app.runs.resolve(wait.id, answer, caller);
    if (answer.decision === 'defer') return false;
    if (answer.decision === 'cancel') return true;
  }
  return true;
}

function said(role: 'user' | 'assistant', text: string): Message {
  const origin = role === 'user' ? 'user' : 'model';
  return { role, parts: [{ type: 'text', text }], origin };
}
