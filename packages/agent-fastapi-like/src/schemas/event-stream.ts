import { Type } from 'typebox';

/** The body of a stream, for the document: text, whose frames hold envelopes. */
export const EVENT_STREAM = {
  'text/event-stream': Type.String({
    description: 'Frames of server-sent events; the `data` of each is an `Envelope` as JSON.',
  }),
} as const;
