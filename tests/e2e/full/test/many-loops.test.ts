import { defineAgent } from '@hexagent/agent-core';
import { expect } from 'vitest';
import { tinyApp, withTinyModel } from '../../test/tiny-app.ts';
import { add, getWeather, SKY } from '../../test/weather-tools.ts';

const { modelTest, server } = await withTinyModel();

const weather = defineAgent({
  name: 'weather',
  recovery: 'action-boundary',
  tools: [getWeather, add],
});

const cities = Object.keys(SKY);
const pairs = cities.flatMap((one) =>
  cities.filter((other) => other !== one).map((other) => [one, other] as const),
);

modelTest('every city alone, asked in several ways', async () => {
  const app = await tinyApp(server(), weather);
  for (const city of cities) {
    for (const question of [`weather in ${city}`, `How is the weather in ${city} today?`]) {
      expect(await app.run(weather, question)).toMatchObject({
        kind: 'completed',
        output: `It is ${SKY[city]?.sky} in ${city} and ${SKY[city]?.temp} degrees.`,
      });
    }
  }
});

modelTest('every pair of cities, all runs at once', { timeout: 120_000 }, async () => {
  const app = await tinyApp(server(), weather);
  const results = await Promise.all(
    pairs.map(([one, other]) => app.run(weather, `weather in ${one} and ${other}`)),
  );
  for (const [at, [one, other]] of pairs.entries()) {
    expect(results[at]).toMatchObject({
      kind: 'completed',
      output: `It is ${SKY[one]?.sky} in ${one} and ${SKY[other]?.sky} in ${other}.`,
      toolCalls: ['get_weather', 'get_weather'],
    });
  }
});

modelTest('sums, one after another', async () => {
  const app = await tinyApp(server(), weather);
  for (let a = 0; a < 10; a += 1) {
    const b = 9 - a;
    expect(await app.run(weather, `What is ${a} plus ${b}?`)).toMatchObject({
      kind: 'completed',
      output: `The sum is ${a + b}.`,
    });
  }
});
