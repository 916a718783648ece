import { afterEach, describe, expect, test, vi } from 'vitest';
import { scenarios } from '../src/scenarios/all.ts';
import { HOSTS, openStage, type Stage } from '../src/stage.ts';

let stage: Stage | undefined;

afterEach(async () => {
  await stage?.close();
  stage = undefined;
  vi.restoreAllMocks();
});

/** The client warns of what it strips and converts: nothing of ours may need that. */
function warnings(): readonly string[] {
  return vi.mocked(console.warn).mock.calls.map((call) => call.join(' '));
}

describe.each(HOSTS)('behind %s', (host) => {
  test.each(scenarios)('$name', async ({ script, play }) => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    stage = await openStage({ script, host, heartbeatMs: 100 });
    await play(stage);
    expect(warnings()).toEqual([]);
  });
});
