import { Type } from 'typebox';

/** Every answer above 399: RFC 9457, `application/problem+json`. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'A URN with the code.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What was seen.' }),
    instance: Type.String({ description: 'A URN with the id of the request.' }),
    code: Type.String({ description: 'A word of a closed list.' }),
    mend: Type.String({ description: 'What to do next.' }),
    problems: Type.Optional(
      Type.Array(Type.Object({ at: Type.String(), seen: Type.String(), mend: Type.String() }), {
        description: 'Everything that is wrong with the input, one by one.',
      }),
    ),
  },
  { title: 'Problem' },
);
