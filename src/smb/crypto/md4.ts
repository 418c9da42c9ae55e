// MD4 (RFC 1320), which OpenSSL 3 no longer offers. Only used for the hash of an NTLM password.

const rounds = [
  // mix of b, c, d               constant     order of words in one round               rotations
  {
    mix: (b: number, c: number, d: number) => (b & c) | (~b & d),
    add: 0,
    order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    turns: [3, 7, 11, 19],
  },
  {
    mix: (b: number, c: number, d: number) => (b & c) | (b & d) | (c & d),
    add: 0x5a827999,
    order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
    turns: [3, 5, 9, 13],
  },
  {
    mix: (b: number, c: number, d: number) => b ^ c ^ d,
    add: 0x6ed9eba1,
    order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
    turns: [3, 9, 11, 15],
  },
] as const;

export function md4(input: Buffer): Buffer {
  const padded = Buffer.alloc(Math.ceil((input.length + 9) / 64) * 64);
  padded.set(input);
  padded[input.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(input.length) * 8n, padded.length - 8);

  let state: readonly [number, number, number, number] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += 64) state = block(state, padded, at);

  const digest = Buffer.alloc(16);
  for (const [index, word] of state.entries()) digest.writeUInt32LE(word >>> 0, index * 4);
  return digest;
}

type State = readonly [number, number, number, number];

function block(state: State, from: Buffer, at: number): State {
  let [a, b, c, d] = state;
  for (const { mix, add, order, turns } of rounds) {
    for (const [step, word] of order.entries()) {
      const sum = (a + mix(b, c, d) + from.readUInt32LE(at + word * 4) + add) | 0;
      const turn = turns[step & 3] ?? 0;
      [a, d, c, b] = [d, c, b, (sum << turn) | (sum >>> (32 - turn))];
    }
  }
  return [(state[0] + a) | 0, (state[1] + b) | 0, (state[2] + c) | 0, (state[3] + d) | 0];
}
