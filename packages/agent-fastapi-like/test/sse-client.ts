export type Frame = {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
};

/** Reads frames off a response, one by one; `leave` breaks the connection off. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let buffer = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += value;
      const pieces = buffer.split('\n\n');
      buffer = pieces.pop() ?? '';
      for (const piece of pieces) yield frameOf(piece);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function frameOf(piece: string): Frame {
  const frame: { id?: string; event?: string; data?: string; comment?: string } = {};
  for (const line of piece.split('\n')) {
    const [name = '', ...rest] = line.split(': ');
    const value = rest.join(': ');
    if (name === '') frame.comment = value;
    else if (name === 'id' || name === 'event' || name === 'data') frame[name] = value;
  }
  return frame;
}

/** Every event of a stream that ends, comments left out. */
export async function eventsOf(response: Response): Promise<readonly Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames(response)) if (frame.comment === undefined) all.push(frame);
  return all;
}

/** Waits for a condition, a macrotask at a time. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
