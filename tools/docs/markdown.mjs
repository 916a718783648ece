/**
 * The code fences of a page: `{ language, attributes, text, line, length, comment }`. `line` is where the
 * fence opens, `length` its lines inside. Attributes are the rest of the fence's first line (`file=x.ts no-run reason="…"`); `comment` is the HTML comment right above.
 */
export function fencesOf(page) {
  const lines = page.split('\n');
  const fences = [];
  let open;
  for (const [at, line] of lines.entries()) {
    const mark = /^(\s*)(`{3,})\s*(\S*)\s*(.*)$/.exec(line);
    if (open === undefined && mark !== null) {
      open = {
        indent: mark[1].length,
        ticks: mark[2],
        language: mark[3],
        attributes: attributesOf(mark[4]),
        line: at + 1,
        comment: commentAbove(lines, at),
        body: [],
      };
    } else if (open !== undefined && line.trim() === open.ticks) {
      const { indent, ticks, body, ...fence } = open;
      fences.push({
        ...fence,
        length: body.length,
        text: body.map((each) => `${each.slice(indent)}\n`).join(''),
      });
      open = undefined;
    } else if (open !== undefined) open.body.push(line);
  }
  return fences;
}

function attributesOf(text) {
  const pairs = [...text.matchAll(/([\w-]+)(?:=(?:"([^"]*)"|(\S+)))?/g)];
  return new Map(pairs.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']));
}

/** A comment may span lines; nothing but blank lines may stand between it and the fence. */
function commentAbove(lines, fence) {
  let end = fence - 1;
  while (end >= 0 && lines[end].trim() === '') end -= 1;
  if (end < 0 || !lines[end].trimEnd().endsWith('-->')) return undefined;
  let start = end;
  while (start >= 0 && !lines[start].includes('<!--')) start -= 1;
  if (start < 0) return undefined;
  return lines
    .slice(start, end + 1)
    .join('\n')
    .replace(/^\s*<!--\s*/, '')
    .replace(/\s*-->\s*$/, '');
}

/** The lines of a file between `// #region name` and `// #endregion name`, or the whole file, without common indent. */
export function regionOf(text, name) {
  if (name === undefined) return text;
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line) => line.trim() === `// #endregion ${name}`);
  if (start === -1 || end < start) return undefined;
  const inside = lines
    .slice(start + 1, end)
    .filter((line) => !/^\s*\/\/ #(end)?region /.test(line));
  const indent = Math.min(
    ...inside.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)),
  );
  return `${inside.map((line) => line.slice(indent)).join('\n')}\n`;
}
