import { expect, test } from 'vitest';
import type { Message } from '../vocabulary/message.ts';
import { cacheBreakpoints } from './cache-breakpoints.ts';

const said = (role: Message['role'], origin: Message['origin']): Message => {
  return { role, origin, parts: [{ type: 'text', text: 'a' }] };
};
const system = said('system', 'framework');
const user = said('user', 'user');
const answer = said('assistant', 'model');
const result = said('tool', 'tool');
const complaint = said('user', 'framework');

test.each([
  { what: 'nothing', messages: [], ends: [] },
  { what: 'only a system message', messages: [system], ends: [0] },
  { what: 'a first turn', messages: [system, user], ends: [0, 1] },
  { what: 'no system message', messages: [user, answer, user], ends: [1, 2] },
  {
    what: 'a tool loop in a second turn',
    messages: [system, user, answer, user, answer, result, complaint],
    ends: [0, 2, 6],
  },
  { what: 'a history that nobody began', messages: [system, answer], ends: [0, 1] },
])('the places worth keeping of $what', ({ messages, ends }) => {
  expect(cacheBreakpoints(messages)).toEqual(ends);
});
