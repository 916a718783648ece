import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EvidenceRow, type JsonObject, verifyEvidence } from '@hexagent/agent-core';
import { type HexagentCommand, hexagentCommand } from './hexagent-command.ts';
import { type Terminal, terminal } from './terminal.ts';
import { type WorkspaceCopy, workspaceCopy } from './workspace-copy.ts';

const EXAMPLE = join(dirname(fileURLToPath(import.meta.url)), '../..');
const TASK = 'slugify("Crème brûlée") gives "cr-me-br-l-e". Find out why, and fix it.';

/** Exit codes of `hexagent`. */
const COMPLETED = 0;
const PAUSED = 3;

/** A model that asks for more than this is not getting anywhere. */
const MOST_PAUSES = 12;

/** What the demo says yes to, since it only touches the copy; a program could do more. */
const HARMLESS_HERE: readonly unknown[] = ['workspace.write', 'git.apply'];

async function demo(output: Terminal): Promise<boolean> {
  const started = performance.now();
  const copy = workspaceCopy(join(EXAMPLE, 'sample-workspace'));
  try {
    const hexagent = hexagentCommand({
      config: join(EXAMPLE, 'hexagent.config.ts'),
      folder: copy.folder,
      environment: { ...process.env, ...copy.environment },
      terminal: output,
    });
    introduce(output, copy);

    output.chapter(1, 'A process starts the run. It reads, proposes a change, and leaves to ask.');
    let code = await hexagent.show('run', 'code-assistant', TASK);
    const [run] = await hexagent.records('runs', 'list');
    const runId = String(run?.runId);
    const before = copy.writes();

    for (let pause = 0; code === PAUSED && pause < MOST_PAUSES; pause += 1) {
      code = await answerOne(hexagent, { runId, output });
    }
    if (code !== COMPLETED) {
      output.bad(`The run did not complete (hexagent ended with ${code}).`);
      return false;
    }

    output.chapter(3, 'What changed on the disk');
    output.say('');
    output.diff(copy.diff() || '(nothing)');
    output.say('');
    const isOnce = await showWrites(hexagent, { runId, before, copy, output });

    output.chapter(4, 'The evidence: every step, in order, each row sealed by the one after it');
    const isSound = await showEvidence(hexagent, { runId, output });

    output.say('');
    output.say(`Done in ${((performance.now() - started) / 1000).toFixed(1)} seconds.`);
    return isOnce && isSound;
  } finally {
    copy.remove();
  }
}

function introduce(output: Terminal, copy: WorkspaceCopy): void {
  const { HEXAGENT_MODEL_URL: url, HEXAGENT_MODEL: model } = process.env;
  output.title('Hexagent demo: a code assistant that asks before it writes');
  if (url) output.say(`Model      ${model ?? 'the first that is served'} at ${url}`);
  else output.say('Model      scripted, offline (set HEXAGENT_MODEL_URL to use a real one)');
  output.say(`Workspace  ${copy.folder}, a copy of examples/code-assistant/sample-workspace`);
  output.say('Store      SQLite, a file beside the workspace');
  output.say('Commands   each is a process of its own; the demo adds --config to each');
}

/** Another process finds the question, shows it whole, and answers it; then the run goes on there. */
async function answerOne(
  hexagent: HexagentCommand,
  { runId, output }: { readonly runId: string; readonly output: Terminal },
): Promise<number> {
  const [wait] = await hexagent.records('waits', 'list', '--run', runId);
  if (wait === undefined) return hexagent.show('runs', 'resume', runId);
  const waitId = String(wait.id);
  output.chapter(2, 'Another process finds the question, answers it, and goes on with the run.');
  await hexagent.show('waits', 'list');
  await hexagent.show('waits', 'show', waitId);
  const decision = HARMLESS_HERE.includes(toolIn(wait)) ? 'approve' : 'reject';
  return hexagent.show('waits', decision, waitId);
}

function toolIn({ prompt }: JsonObject): unknown {
  return (prompt as JsonObject | undefined)?.tool;
}

async function showWrites(
  hexagent: HexagentCommand,
  {
    runId,
    before,
    copy,
    output,
  }: {
    readonly runId: string;
    readonly before: number;
    readonly copy: WorkspaceCopy;
    readonly output: Terminal;
  },
): Promise<boolean> {
  const after = copy.writes();
  await hexagent.records('runs', 'resume', runId);
  const again = copy.writes();
  const text = `Writes before the approval: ${before}; after it: ${after}; after resuming once more: ${again}.`;
  const isOnce = before === 0 && again === after && (process.env.HEXAGENT_MODEL_URL || after === 1);
  if (isOnce) output.good(text);
  else output.bad(text);
  return Boolean(isOnce);
}

async function showEvidence(
  hexagent: HexagentCommand,
  { runId, output }: { readonly runId: string; readonly output: Terminal },
): Promise<boolean> {
  await hexagent.show('evidence', runId);
  const rows = await hexagent.records('evidence', runId);
  const fault = verifyEvidence(rows as unknown as readonly EvidenceRow[]);
  output.say('');
  if (fault === undefined) {
    output.good(`The chain of ${rows.length} rows holds: none was changed, left out or added.`);
    return true;
  }
  output.bad(`Row ${fault.seq} of the evidence does not hold: ${fault.problem}.`);
  return false;
}

// The command that runs gets Ctrl-C too and ends in order; the copy is removed after it.
process.on('SIGINT', () => undefined);
process.exitCode = (await demo(terminal(process.stdout, process.env))) ? 0 : 1;
