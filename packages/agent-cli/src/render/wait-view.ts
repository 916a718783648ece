import type { Wait } from '@hexagent/agent-core';
import { diffOf, fileProposalOf } from './file-proposal.ts';
import { shownInstant } from './instant.ts';
import type { Output } from './output.ts';
import { oneLine } from './printable.ts';
import type { Style } from './style.ts';
import { questionOf } from './wait-question.ts';

/** What a wait is about, on one line: for lists. */
export function waitSubject(wait: Wait): string {
  const { message, toolName, input } = questionOf(wait);
  if (toolName === undefined) return message;
  return input === undefined ? toolName : `${toolName} ${JSON.stringify(input)}`;
}

/** A pending wait beside a paused run, with the command to go on with. */
export function printWaitSummary(output: Output, wait: Wait): void {
  const { style } = output;
  const subject = oneLine(waitSubject(wait), output.columns - wait.kind.length - 5);
  output.note(`${style.attention('?')} ${wait.kind}: ${subject}`);
  output.note(style.faint(`  hexagent ${nextCommand(wait)}`));
}

function nextCommand({ kind, id, rootRunId, callId, allowed }: Wait): string {
  if (kind === 'approval') return `waits approve ${id}`;
  if (kind === 'client-result') return `waits result ${id} '"…"'`;
  if (kind === 'timer') return `runs resume ${rootRunId}  (then; a worker does it by itself)`;
  if (kind !== 'recovery') return `waits answer ${id} '"…"'`;
  // A question about the run as a whole takes other answers than one about a call.
  if (callId === undefined) return `waits ${allowed[0]} ${id}`;
  // No answer is proposed: the wrong one repeats the effect, or loses it.
  return `waits show ${id}  (the answers: ${allowed.join(', ')})`;
}

/** What becomes of a question that nobody answers in time. */
function atExpiry({ kind, onExpiry }: Wait): string {
  if (kind !== 'approval') return 'the run goes on without an answer';
  return onExpiry === 'pause' ? 'it is asked again' : 'the call is not run';
}

/**
 * Everything that somebody has to see before answering: the exact arguments, and for a proposed file
 * what would change in it. Written through `print`, since a question belongs where the answer is typed.
 */
export async function printQuestion(
  output: Output,
  wait: Wait,
  { cwd, print }: { readonly cwd: string; readonly print: (line: string) => void },
): Promise<void> {
  const { style } = output;
  const { message, toolName, input, risk, reason, hint, schema, problems } = questionOf(wait);
  const subject = toolName === undefined ? '' : ` ${style.strong(output.safe(toolName))}`;
  print(`${style.attention('?')} ${style.attention(wait.kind)}${subject}: ${output.safe(message)}`);
  if (wait.expiresAt !== undefined) {
    print(style.faint(`  expires ${shownInstant(wait.expiresAt)}, then ${atExpiry(wait)}`));
  }
  if (reason !== undefined) print(style.faint(`  reason: ${output.safe(reason)}`));
  if (risk.length > 0) print(style.faint(`  risk: ${output.safe(risk.join(', '))}`));
  if (hint !== undefined) print(style.faint(`  ${output.safe(hint)}`));
  if (schema !== undefined) print(style.faint(`  answer: ${output.safe(JSON.stringify(schema))}`));
  for (const problem of problems) print(`  ${style.bad(output.safe(problem))}`);
  if (input === undefined) return;
  const proposal = fileProposalOf(input);
  const { content: _content, ...rest } = input;
  for (const line of JSON.stringify(proposal === undefined ? input : rest, null, 2).split('\n')) {
    print(`  ${output.safe(line)}`);
  }
  if (proposal === undefined) return;
  print(style.faint(`  content: ${proposal.content.length} characters, the whole file:`));
  for (const line of await diffOf(proposal, { cwd })) {
    print(`  ${diffStyle(style, line)(output.safe(line))}`);
  }
}

function diffStyle(style: Style, line: string): (text: string) => string {
  if (line.startsWith('---') || line.startsWith('+++')) return style.strong;
  if (line.startsWith('+')) return style.good;
  if (line.startsWith('-')) return style.bad;
  return line.startsWith('@@') ? style.name : style.faint;
}
