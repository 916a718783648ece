import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';

/** What the sky of a city is like, in the words that the model was trained on. */
export const SKY: Readonly<Record<string, { readonly sky: string; readonly temp: number }>> = {
  Paris: { sky: 'sunny', temp: 21 },
  London: { sky: 'rainy', temp: 14 },
  Oslo: { sky: 'snowy', temp: 11 },
  Tokyo: { sky: 'windy', temp: 25 },
};

export const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city.',
  input: Type.Object({ city: Type.String() }),
  effects: effects.readOnly(),
  execute: ({ city }) => {
    const weather = SKY[city];
    if (weather === undefined) throw new Error(`There is no weather in ${city}.`);
    return { city, ...weather };
  },
});

export const add = defineTool({
  name: 'add',
  description: 'The sum of two numbers.',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }),
  effects: effects.readOnly(),
  execute: ({ a, b }) => a + b,
});
