import { randomUUID } from 'node:crypto';
import { linked } from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openLineReader } from '../io/line-reader.ts';
import { printError } from '../render/error-view.ts';
import { sendMessage, takeUp } from './chat-session.ts';
import type { ChatMemory, ChatSession } from './chat-state.ts';
import { chooseAgent } from './choose-agent.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';

type ChatOptions = { readonly conversation?: string };

const HELP = `/exit leaves, /help shows this. Ctrl-C cancels the answer at hand, once more leaves.`;

/** `hexagent chat [agent]` */
export function chatCommand(host: CommandHost): Command {
  return new Command('chat')
    .description('talk with an agent; approvals are asked here')
    .argument('[agent]', 'may be left out when there is only one')
    .option('--conversation <id>', 'go on with this conversation')
    .action(perform<ChatOptions>(host, chat));
}

async function chat(task: Task<ChatOptions>): Promise<ExitCode> {
  const { open, io, output, interrupts, args, options } = task;
  const opened = await open({ start: true });
  const agent = chooseAgent(opened, { name: args[0], example: 'hexagent chat <agent>' });
  const described = opened.app.runs.agents(opened.caller).find(({ name }) => name === agent);
  const memory: ChatMemory =
    described?.durable === true
      ? { kind: 'conversation', conversationId: options.conversation ?? `chat-${randomUUID()}` }
      : { kind: 'history', messages: [] };
  const lines = openLineReader(io, { onInterrupt: interrupts.raise });
  const session: ChatSession = { ...opened, io, output, interrupts, lines, agent, memory };
  try {
    greet(session);
    return await converse(session, task);
  } finally {
    lines.close();
  }
}

function greet({ output, lines, agent, memory }: ChatSession): void {
  if (memory.kind === 'conversation') output.record('conversation', memory);
  if (!lines.isInteractive) return;
  const { style } = output;
  const where = memory.kind === 'conversation' ? `, conversation ${memory.conversationId}` : '';
  output.note(`${style.strong(agent)}${style.faint(where)}`);
  output.note(style.faint(HELP));
}

/** The exit code is that of the last run: 0 when it completed, and when there was none. */
async function converse(session: ChatSession, task: Task<ChatOptions>): Promise<ExitCode> {
  const { output } = session;
  let code = await attempt(task, () => takeUp(session));
  for (;;) {
    const line = await nextMessage(session);
    if (line === undefined || line === '/exit') return code;
    if (line === '') continue;
    if (line === '/help') output.note(HELP);
    else if (/^\/\w+$/.test(line)) output.note(`There is no ${output.safe(line)}. ${HELP}`);
    else code = await attempt(task, () => sendMessage(session, line));
  }
}

/** An error of one message is shown, and the chat goes on. */
async function attempt(
  { output, options, signal }: Task<ChatOptions>,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    printError(output, error, { debug: options.debug === true });
    return EXIT.error;
  }
}

/** The first Ctrl-C at the prompt says how to leave; a second one leaves. */
async function nextMessage({
  output,
  interrupts,
  lines,
  agent,
}: ChatSession): Promise<string | undefined> {
  const prompt = output.style.strong(`${agent}> `);
  const asking = linked(interrupts.signal);
  const interrupted = new Error('interrupted');
  try {
    const line = await interrupts.during(
      () => asking.abort(interrupted),
      () => lines.ask(prompt, asking),
    );
    return line?.trim();
  } catch (error) {
    if (error !== interrupted) throw error;
    output.note('\nCtrl-C again or /exit leaves.');
    return (await lines.ask(prompt, interrupts))?.trim();
  } finally {
    asking.release();
  }
}
