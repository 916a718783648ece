/** Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2). */
const K: Int32Array = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
);

const BLOCK = 64;
const encoder = new TextEncoder();

/** Scratch space; the digest is synchronous, so one is enough. */
const schedule: Int32Array = new Int32Array(64);

/** SHA-256 (FIPS 180-4) of some bytes: 32 bytes. Synchronous, where the platform's digest is not. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = stateOf(bytes);
  const digest = new Uint8Array(32);
  for (let index = 0; index < 8; index += 1) putWord(digest, index * 4, state[index] as number);
  return digest;
}

/** SHA-256 of a text's UTF-8 bytes, as 64 lower-case hexadecimal characters. */
export function sha256Hex(text: string): string {
  const state = stateOf(encoder.encode(text));
  let hex = '';
  for (let index = 0; index < 8; index += 1) {
    hex += ((state[index] as number) >>> 0).toString(16).padStart(8, '0');
  }
  return hex;
}

function stateOf(bytes: Uint8Array): Int32Array {
  const state = Int32Array.of(
    0x6a09e667,
    0xbb67ae85,
    0x3c6ef372,
    0xa54ff53a,
    0x510e527f,
    0x9b05688c,
    0x1f83d9ab,
    0x5be0cd19,
  );
  const whole = bytes.length - (bytes.length % BLOCK);
  for (let offset = 0; offset < whole; offset += BLOCK) compress(state, bytes, offset);
  const tail = paddedTail(bytes, whole);
  for (let offset = 0; offset < tail.length; offset += BLOCK) compress(state, tail, offset);
  return state;
}

/** What is left after the whole blocks, a one bit, zeros, and the length in bits. */
function paddedTail(bytes: Uint8Array, whole: number): Uint8Array {
  const rest = bytes.length - whole;
  const tail = new Uint8Array(rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK);
  tail.set(bytes.subarray(whole));
  tail[rest] = 0x80;
  putWord(tail, tail.length - 8, Math.floor(bytes.length / 0x20000000));
  putWord(tail, tail.length - 4, bytes.length << 3);
  return tail;
}

function putWord(target: Uint8Array, offset: number, word: number): void {
  target[offset] = word >>> 24;
  target[offset + 1] = word >>> 16;
  target[offset + 2] = word >>> 8;
  target[offset + 3] = word;
}

function compress(state: Int32Array, bytes: Uint8Array, offset: number): void {
  const w = schedule;
  for (let index = 0; index < 16; index += 1) {
    const at = offset + index * 4;
    w[index] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let index = 16; index < 64; index += 1) {
    const early = w[index - 15] as number;
    const late = w[index - 2] as number;
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    w[index] = ((w[index - 16] as number) + s0 + (w[index - 7] as number) + s1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let index = 0; index < 64; index += 1) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + s1 + choice + (K[index] as number) + (w[index] as number)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + s0 + majority) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
