import { AgentError, bootstrap } from '@hexagent/agent-core';
import { HttpServer } from '@hexagent/agent-fastapi-like';
import { greeting } from './greeting.ts';
import { httpService } from './http-service.ts';
import { endWhenAsked } from './interruption.ts';
import { settingsOf } from './settings.ts';

try {
  const settings = settingsOf(process.env);
  const app = await bootstrap(httpService(settings));
  endWhenAsked(async () => {
    console.log('Ending: open requests may finish, runs go on after the next start.');
    await app.close();
    console.log('Ended.');
  });
  console.log(greeting(app.all(HttpServer)[0]?.url ?? '', settings));
} catch (error) {
  if (!AgentError.is(error)) throw error;
  console.error(`${error.code}: ${error.message} ${error.mend}`);
  process.exitCode = 1;
}
