// RC4, which OpenSSL 3 no longer offers. NTLM wraps its session key and its message signatures in it.

export function rc4(key: Buffer, input: Buffer): Buffer {
  const box = new Uint8Array(256).map((_, index) => index);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + at(box, i) + (key[i % key.length] ?? 0)) & 255;
    swap(box, i, j);
  }
  const output = Buffer.alloc(input.length);
  for (let n = 0, i = 0, j = 0; n < input.length; n++) {
    i = (i + 1) & 255;
    j = (j + at(box, i)) & 255;
    swap(box, i, j);
    output[n] = (input[n] ?? 0) ^ at(box, (at(box, i) + at(box, j)) & 255);
  }
  return output;
}

function at(box: Uint8Array, index: number): number {
  return box[index] ?? 0;
}

function swap(box: Uint8Array, i: number, j: number): void {
  const kept = at(box, i);
  box[i] = at(box, j);
  box[j] = kept;
}
