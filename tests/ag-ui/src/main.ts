import { scenarios } from './scenarios/all.ts';
import { resumeAfterRestart } from './scenarios/restart.ts';
import { HOSTS, type HostKind, openStage } from './stage.ts';

/** A run that hangs has failed. */
const LIMIT_MS = 60_000;

const tally = { passed: 0, failed: 0 };
const warnings: string[] = [];
console.warn = (...words) => void warnings.push(words.join(' '));

for (const host of HOSTS) {
  for (const { name, script, play } of scenarios)
    await attempt(`${host}: ${name}`, async () => {
      const stage = await openStage({ script, host, heartbeatMs: 100 });
      try {
        await play(stage);
      } finally {
        await stage.close();
      }
    });
  await attempt(`${host}: an interrupt outlives its process`, () =>
    resumeAfterRestart(host satisfies HostKind),
  );
}

console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;

async function attempt(name: string, work: () => Promise<void>): Promise<void> {
  warnings.length = 0;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`still not over after ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  try {
    await Promise.race([work(), late]);
    if (warnings.length > 0) throw new Error(`the client warns: ${warnings.join('; ')}`);
    tally.passed += 1;
    console.log(`ok      ${name}`);
  } catch (error) {
    tally.failed += 1;
    console.log(
      `FAILED  ${name}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  } finally {
    clearTimeout(timer);
  }
}
