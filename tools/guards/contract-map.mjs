import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFile } from './files.mjs';
import { command } from './guard.mjs';

const PAGE = 'docs/contract-map.md';
const ROOTED = /^(packages|examples|docs|tests|benchmarks)\//;

/** Rows `| contract names | here | note |` of every table whose header begins with "contract". */
function rowsOf(page) {
  const rows = [];
  let inMap = false;
  for (const [at, line] of page.split('\n').entries()) {
    if (!line.startsWith('|')) {
      inMap = false;
      continue;
    }
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (cells[0]?.toLowerCase().startsWith('contract')) inMap = true;
    else if (inMap && !/^:?-+:?$/.test(cells[0] ?? '')) rows.push({ line: at + 1, cells });
  }
  return rows;
}

/** Whether a TypeScript file declares or exports a name, or a page has it as a word. */
const names = (text, name) =>
  new RegExp(`(^|[^\\w$-])${name.replace(/[$.]/g, '\\$&')}($|[^\\w$-])`, 'm').test(text);

function placeProblems(root, place) {
  const [path, name] = place.split('#');
  const file = ROOTED.test(path) ? path : `packages/agent-core/src/${path}`;
  if (!isFile(root, file)) return [`${file} does not exist`];
  if (name !== undefined && !names(readFileSync(join(root, file), 'utf8'), name)) {
    return [`${file} has no "${name}"`];
  }
  return [];
}

function rowProblems(root, { line, cells }) {
  const [contract = '', here = ''] = cells;
  const where = `${PAGE}:${line} (${contract})`;
  if (contract === '') return [`${PAGE}:${line} names nothing of the contract.`];
  const reason = /^(later|no):\s*(.*)$/.exec(here);
  if (reason !== null) {
    return reason[2] === '' ? [`${where} says "${reason[1]}" without a reason.`] : [];
  }
  const places = [...here.matchAll(/`([^`]+)`/g)].map(([, place]) => place);
  if (places.length === 0) return [`${where} has no place and no reason ("later: …" or "no: …").`];
  return places
    .flatMap((place) => placeProblems(root, place))
    .map((problem) => `${where}: ${problem}.`);
}

export const rule = {
  name: 'contract-map',
  help: `Each name of the contract in ${PAGE} has a place that exists ("file#name") or a reason ("later: …", "no: …").`,
  check: (root) => {
    if (!existsSync(join(root, PAGE))) return { problems: [`${PAGE} is missing.`] };
    const rows = rowsOf(readFileSync(join(root, PAGE), 'utf8'));
    if (rows.length === 0)
      return { problems: [`${PAGE} has no table that begins with "contract".`] };
    return { problems: rows.flatMap((row) => rowProblems(root, row)), note: `${rows.length} rows` };
  },
};

await command(import.meta, rule);
