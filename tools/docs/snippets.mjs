import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { isFile, pagesOf } from '../guards/files.mjs';
import { command, WORKSPACE } from '../guards/guard.mjs';
import { fencesOf, regionOf } from './markdown.mjs';

/** Snippets resolve packages from here, as a user's own file would: a private package that depends on all of them. */
const OUT = 'tests/snippets/out';
const TIMEOUT_MS = 30_000;

/** What a page asks to be done with its TypeScript: equal a region, or be compiled and run. */
function planOf(root, page) {
  const text = readFileSync(join(root, page), 'utf8');
  const plan = { regions: [], snippets: [], problems: [] };
  const files = [];
  const fences = fencesOf(text);
  for (const [at, fence] of fences.entries()) {
    if (!['ts', 'typescript'].includes(fence.language)) continue;
    const where = `${page}:${fence.line}`;
    const region = /^region\s+([^#\s]+)(?:#(\S+))?$/.exec(fence.comment ?? '');
    if (region !== null) {
      plan.regions.push({ where, file: region[1], name: region[2], fence });
      continue;
    }
    const reason = fence.attributes.get('reason');
    if (fence.attributes.has('no-run') && !reason) {
      plan.problems.push(`${where}: no-run needs reason="…".`);
    }
    const file = fence.attributes.get('file');
    if (file !== undefined) files.push({ file, text: fence.text, where });
    if (file !== undefined && !fence.attributes.has('run')) continue;
    const model = /^model\s+([\s\S]*)$/.exec(fence.comment ?? '');
    const next = fences[at + 1];
    plan.snippets.push({
      where,
      page,
      line: fence.line,
      text: fence.text,
      main: file ?? 'main.ts',
      files: [...files],
      reason: fence.attributes.has('no-run') ? reason : undefined,
      steps: model === null ? undefined : JSON.parse(model[1]),
      expected:
        next?.language === 'text' && next.attributes.has('output') ? next.text.split('\n') : [],
    });
  }
  for (const { file, where } of files) {
    const name = file.replace(/\.ts$/, '');
    const used = plan.snippets.some(
      (snippet) => snippet.main === file || snippet.text.includes(`/${name}`),
    );
    if (!used)
      plan.problems.push(`${where}: no snippet of the page imports ${file}, so nothing runs it.`);
  }
  return plan;
}

/** A snippet in a folder of its own, with the files that it imports. */
function write(root, snippet) {
  const folder = join(root, OUT, `${snippet.page.replaceAll(/[^\w]+/g, '-')}-${snippet.line}`);
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of snippet.files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  // A snippet without imports is a script to TypeScript, and two scripts share their names.
  writeFileSync(join(folder, snippet.main), `${snippet.text}export {};\n`);
  return join(folder, snippet.main);
}

function run(command, args, options) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      ...options,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    child.on('error', (error) => done({ code: 1, stdout, stderr: String(error) }));
    child.on('close', (code, signal) => done({ code: code ?? signal, stdout, stderr }));
  });
}

async function compile(root) {
  const config = {
    extends: '../../../tsconfig.base.json',
    compilerOptions: {
      composite: false,
      declaration: false,
      declarationMap: false,
      noEmit: true,
      customConditions: [],
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      typeRoots: ['../../../node_modules/@types'],
    },
    include: ['.'],
  };
  const path = join(root, OUT, 'tsconfig.json');
  writeFileSync(path, JSON.stringify(config));
  const tsc = join(WORKSPACE, 'node_modules/typescript7/bin/tsc');
  const { code, stdout, stderr } = await run(process.execPath, [tsc, '-p', path], {
    cwd: root,
    timeout: 120_000,
  });
  return code === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}

/** A real server on the loopback that answers the n-th question with the n-th step, and the last step from then on. */
async function serve(steps) {
  const server = join(WORKSPACE, 'examples/scripted-server/src/index.ts');
  const { serveModel } = await tsImport(server, import.meta.url);
  let asked = 0;
  return serveModel(({ tools }) => {
    const step = steps[Math.min(asked, steps.length - 1)];
    asked += 1;
    if (step.call === undefined) return { text: step.text };
    const plain = (name) => name.replaceAll(/[^A-Za-z0-9]/g, '');
    const name = tools.find((tool) => plain(tool) === plain(step.call.name)) ?? step.call.name;
    return { calls: [{ name, input: step.call.input ?? {} }] };
  });
}

async function execute(snippet, file) {
  const server = snippet.steps === undefined ? undefined : await serve(snippet.steps);
  const scratch = mkdtempSync(join(tmpdir(), 'hexagent-snippet-'));
  try {
    const tsx = join(WORKSPACE, 'node_modules/tsx/dist/cli.mjs');
    const result = await run(process.execPath, [tsx, file], {
      cwd: scratch,
      env: { ...process.env, ...(server === undefined ? {} : { HEXAGENT_MODEL_URL: server.url }) },
    });
    if (result.code !== 0)
      return [`${snippet.where} ended with ${result.code}:\n${result.stderr}${result.stdout}`];
    return snippet.expected
      .filter((line) => line.trim() !== '' && !result.stdout.includes(line.trim()))
      .map((line) => `${snippet.where} did not print "${line.trim()}" but:\n${result.stdout}`);
  } finally {
    await server?.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function regionProblems(root, { where, file, name, fence }, page, update) {
  if (!isFile(root, file)) return [`${where} shows ${file}, which does not exist.`];
  const wanted = regionOf(readFileSync(join(root, file), 'utf8'), name);
  if (wanted === undefined) return [`${where}: ${file} has no region "${name}".`];
  if (wanted === fence.text) return [];
  if (!update)
    return [
      `${where} differs from ${file}${name === undefined ? '' : `#${name}`}: run \`npm run snippets:update\`.`,
    ];
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  lines.splice(fence.line, fence.length, ...wanted.trimEnd().split('\n'));
  writeFileSync(join(root, page), lines.join('\n'));
  return [];
}

async function check(root, options) {
  const problems = [];
  const snippets = [];
  let regions = 0;
  for (const page of pagesOf(root)) {
    const plan = planOf(root, page);
    regions += plan.regions.length;
    snippets.push(...plan.snippets);
    problems.push(...plan.problems);
    // From the last to the first: a longer region moves what stands below it.
    for (const region of plan.regions.toReversed()) {
      problems.push(...regionProblems(root, region, page, options.has('--update')));
    }
  }
  if (options.has('--update')) return { problems, note: `${regions} regions` };
  rmSync(join(root, OUT), { recursive: true, force: true });
  mkdirSync(join(root, OUT), { recursive: true });
  const lines = [];
  const written = snippets.map((snippet) => ({ snippet, file: write(root, snippet) }));
  if (written.length > 0) problems.push(...(await compile(root)));
  for (const { snippet, file } of written) {
    if (snippet.reason === undefined) problems.push(...(await execute(snippet, file)));
    else lines.push(`${snippet.where} is compiled, not run: ${snippet.reason}`);
  }
  if (problems.length === 0 && existsSync(join(root, OUT)))
    rmSync(join(root, OUT), { recursive: true });
  return { problems, lines, note: `${snippets.length} snippets, ${regions} regions of files` };
}

export const rule = {
  name: 'snippets',
  help: 'Compiles and runs every TypeScript fence of READMEs and docs (file=x.ts, run, no-run reason="…", <!-- model [...] -->), or holds it equal to a region of a file.',
  check,
};

await command(import.meta, rule);
