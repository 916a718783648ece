import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type EvidenceRow,
  isJsonObject,
  type JsonObject,
  verifyEvidence,
} from '@hexagent/agent-core';
import { evidenceLine } from './evidence-line.ts';
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

type Stage = {
  readonly hexagent: HexagentCommand;
  readonly copy: WorkspaceCopy;
  readonly output: Terminal;
};

/** Tells the story; true when everything that it claims was seen. */
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
    const stage = { hexagent, copy, output };
    introduce(stage);
    const isFine = await play(stage);
    output.say('');
    output.say(`Done in ${((performance.now() - started) / 1000).toFixed(1)} seconds.`);
    return isFine;
  } finally {
    copy.remove();
  }
}

function introduce({ copy, output }: Stage): void {
  const { HEXAGENT_MODEL_URL: url, HEXAGENT_MODEL: model } = process.env;
  output.title('Hexagent demo: a code assistant that asks before it writes');
  if (url) output.say(`Model      ${model || 'the first that is served'} at ${url}`);
  else output.say('Model      scripted, offline (set HEXAGENT_MODEL_URL to use a real one)');
  output.say(`Workspace  ${copy.folder}`);
  output.say('           a copy of examples/code-assistant/sample-workspace');
  output.say('Store      SQLite, a file beside the workspace');
  output.say('Commands   each is a process of its own; the demo adds --config to each');
}

async function play(stage: Stage): Promise<boolean> {
  const { hexagent, copy, output } = stage;
  output.chapter(1, 'A process starts the run. It reads, proposes a change, and leaves to ask.');
  let code = await hexagent.show('run', 'code-assistant', TASK);
  const before = copy.writes();

  if (code === PAUSED) {
    output.chapter(2, 'Other processes find the question, show it whole, approve it, and go on.');
  }
  for (let pause = 0; code === PAUSED && pause < MOST_PAUSES; pause += 1) {
    code = await answerNext(stage);
  }
  if (code !== COMPLETED) {
    output.bad(`The run did not complete (hexagent ended with ${code}).`);
    return false;
  }

  output.chapter(3, 'What changed on the disk');
  output.say('');
  output.diff(copy.diff() || '(nothing)');
  const after = copy.writes();
  const [run] = await hexagent.records('runs', 'list', '--limit', '1');
  const runId = String(run?.runId);
  await hexagent.records('runs', 'resume', runId);
  const isOnce = sayWrites(stage, { before, after });

  output.chapter(4, 'The evidence: what happened, in order; each row seals the one before it');
  const isSound = await showEvidence(stage, runId);
  return isOnce && isSound;
}

/** The oldest question: shown whole, answered, and the run goes on in the process that answers. */
async function answerNext({ hexagent, output }: Stage): Promise<number> {
  const waits = await hexagent.records('waits', 'list');
  for (const { id, kind, prompt } of waits) output.say(`${id}  ${kind}  ${toolIn(prompt)}`);
  const [wait] = waits;
  if (wait === undefined) throw new Error('The run is paused, and nothing waits for an answer.');
  const waitId = String(wait.id);
  await hexagent.show('waits', 'show', waitId);
  const decision = HARMLESS_HERE.includes(toolIn(wait.prompt)) ? 'approve' : 'reject';
  return hexagent.show('waits', decision, waitId);
}

function toolIn(prompt: JsonObject[string] | undefined): unknown {
  return isJsonObject(prompt) ? prompt.tool : undefined;
}

/** The scripted model writes exactly once; a real one may do it in steps, but never before it was allowed to. */
function sayWrites(
  { copy, output }: Stage,
  { before, after }: { readonly before: number; readonly after: number },
): boolean {
  const again = copy.writes();
  const isScripted = !process.env.HEXAGENT_MODEL_URL;
  const isFine = before === 0 && again === after && (after === 1 || !isScripted);
  const say = isFine ? output.good : output.bad;
  output.say('');
  say(`Writes before the approval: ${before}; after it: ${after}; resumed once more: ${again}.`);
  return isFine;
}

async function showEvidence({ hexagent, output }: Stage, runId: string): Promise<boolean> {
  const records = await hexagent.records('evidence', runId);
  const rows = records.filter(
    ({ type }) => type === 'evidence',
  ) as unknown as readonly EvidenceRow[];
  for (const row of rows) output.say(evidenceLine(row));
  const fault = verifyEvidence(rows);
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
