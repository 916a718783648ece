/** Collects the output of a program: its beginning and its end, where programs say what matters. */
export interface BoundedOutput {
  add(chunk: Buffer): void;
  text(): string;
  omittedBytes(): number;
}

export function boundedOutput(maxBytes: number): BoundedOutput {
  const half = Math.floor(maxBytes / 2);
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let total = 0;
  const omittedBytes = (): number => total - head.length - tail.length;
  return {
    omittedBytes,
    add: (chunk) => {
      total += chunk.length;
      const room = half - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      tail = lastOf(Buffer.concat([tail, chunk.subarray(Math.max(0, room))]), half);
    },
    text: () => {
      const omitted = omittedBytes();
      const gap = omitted === 0 ? '' : `\n… ${omitted} bytes left out …\n`;
      if (omitted === 0) return Buffer.concat([head, tail]).toString('utf8');
      return `${head.toString('utf8')}${gap}${tail.toString('utf8')}`;
    },
  };
}

function lastOf(bytes: Buffer, count: number): Buffer {
  return bytes.length > count ? Buffer.from(bytes.subarray(bytes.length - count)) : bytes;
}
