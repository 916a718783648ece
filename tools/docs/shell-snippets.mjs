import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pagesOf } from '../guards/files.mjs';
import { command } from '../guards/guard.mjs';
import { fencesOf } from './markdown.mjs';

const SHELLS = new Set(['sh', 'bash', 'shell', 'console']);
const TIMEOUT_MS = 600_000;

/** A stranger has npm and nothing else. */
function strangerProblems(root) {
  return pagesOf(root).flatMap((page) =>
    fencesOf(readFileSync(join(root, page), 'utf8'))
      .filter(({ language }) => SHELLS.has(language))
      .flatMap(({ text, line }) =>
        text
          .split('\n')
          .filter((command) => /^\s*(\$\s*)?(pnpm|turbo|vitest|tsx|tsc|yarn)\b/.test(command))
          .map((command) => `${page}:${line}: "${command.trim()}" needs more than npm.`),
      ),
  );
}

/** What a fresh clone holds: the files that git tracks, and new ones that it would. */
function copyOfClone(root) {
  const copy = mkdtempSync(join(tmpdir(), 'hexagent-readme-'));
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  for (const file of new Set(files.split('\0').filter(Boolean))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    try {
      cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
    } catch (cause) {
      if (cause.code !== 'ENOENT') throw cause; // deleted and not yet committed
    }
  }
  return copy;
}

/** Makes a copy look like a clone in which nothing has been done yet. */
function commitAll(copy) {
  git(copy, 'init', '--quiet');
  git(copy, 'add', '--all');
}

/** What the commands have left behind that a stranger would see as changes. */
function leftBehind(copy) {
  return git(copy, 'status', '--porcelain', '--untracked-files=all')
    .split('\n')
    .filter((line) => /^(\?\?|.[MD])/.test(line))
    .map(
      (line) =>
        `The commands of the README left "${line.slice(3)}": ignore it in git, or clean it up.`,
    );
}

function git(cwd, ...args) {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

function check(root) {
  const problems = strangerProblems(root);
  const lines = [];
  const fences = fencesOf(readFileSync(join(root, 'README.md'), 'utf8')).filter(({ language }) =>
    SHELLS.has(language),
  );
  const copy = copyOfClone(root);
  commitAll(copy);
  let ran = 0;
  try {
    for (const { text, line, attributes } of fences) {
      const reason = attributes.get('reason');
      if (attributes.has('no-run')) {
        if (!reason) problems.push(`README.md:${line}: no-run needs reason="…".`);
        else lines.push(`README.md:${line} is not run: ${reason}`);
        continue;
      }
      const result = spawnSync('bash', ['-euo', 'pipefail', '-c', text], {
        cwd: copy,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: TIMEOUT_MS,
      });
      ran += 1;
      lines.push(`README.md:${line} $ ${text.trim().replaceAll('\n', '; ')}`);
      if (result.status !== 0) {
        problems.push(
          `README.md:${line} ended with ${result.status ?? result.signal}:\n${result.stdout}${result.stderr}`,
        );
      }
    }
    problems.push(...leftBehind(copy));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return { problems, lines, note: `${ran} shell snippets of the README ran in a fresh copy` };
}

export const rule = {
  name: 'shell-snippets',
  help: 'Runs the shell fences of the README in a fresh copy of the workspace, and refuses a page that asks for more than npm.',
  check,
};

await command(import.meta, rule);
