import { isJsonObject } from '@hexagent/agent-core';
import { type PrintedAnswer, printedAnswer } from './printed-answer.ts';

/** What a page leaves out: a part of a text, the rest of a list, other members of an object, a stretch of a stream. */
const LEFT_OUT = '…';

/** Where an answer is not what the page shows: its status, a header that is shown, its body in shape. */
export function differences(shown: string, answer: PrintedAnswer): readonly string[] {
  const wanted = printedAnswer(shown);
  const heads = [...wanted.headers].map(([name, value]) =>
    texts(value, answer.headers.get(name) ?? '', `header ${name}`),
  );
  return [
    ...texts(wanted.status, answer.status, 'status'),
    ...heads.flat(),
    ...bodies(wanted.body, answer.body),
  ];
}

function bodies(shown: string, body: string): readonly string[] {
  if (!/^[{[]/.test(shown)) return texts(shown, body, 'body');
  return values(JSON.parse(shown), JSON.parse(body), 'body');
}

/** Texts are equal but for what is left out, numbers are numbers, lists and objects have the same members. */
export function values(shown: unknown, value: unknown, at: string): readonly string[] {
  if (typeof shown === 'string') return texts(shown, value, at);
  if (typeof shown === 'number')
    return typeof value === 'number' ? [] : [`${at} is no number but ${JSON.stringify(value)}.`];
  if (Array.isArray(shown)) return lists(shown, value, at);
  if (isJsonObject(shown)) return objects(shown, value, at);
  return shown === value ? [] : [`${at} is ${JSON.stringify(value)}, not ${String(shown)}.`];
}

function texts(shown: string, value: unknown, at: string): readonly string[] {
  if (shown === LEFT_OUT && value !== undefined) return [];
  const parts = shown.split(LEFT_OUT).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const fits = typeof value === 'string' && new RegExp(`^${parts.join('[^]*')}$`).test(value);
  return fits ? [] : [`${at} is ${JSON.stringify(value)}, not ${JSON.stringify(shown)}.`];
}

function lists(shown: readonly unknown[], value: unknown, at: string): readonly string[] {
  if (!Array.isArray(value)) return [`${at} is no list.`];
  const isOpen = shown.at(-1) === LEFT_OUT;
  const items = isOpen ? shown.slice(0, -1) : shown;
  if (isOpen ? value.length < items.length : value.length !== items.length)
    return [`${at} has ${value.length} items, not ${items.length}.`];
  return items.flatMap((item, index) => values(item, value[index], `${at}[${index}]`));
}

function objects(
  shown: Readonly<Record<string, unknown>>,
  value: unknown,
  at: string,
): readonly string[] {
  if (!isJsonObject(value)) return [`${at} is no object.`];
  const { [LEFT_OUT]: open, ...members } = shown;
  const untold = open === undefined ? Object.keys(value).filter((key) => !(key in members)) : [];
  return [
    ...untold.map((key) => `${at}.${key} is not shown.`),
    ...Object.entries(members).flatMap(([key, member]) =>
      key in value ? values(member, value[key], `${at}.${key}`) : [`${at}.${key} is missing.`],
    ),
  ];
}
