// Just enough of WebAssembly's binary format to write a module with one function by hand: its words as
// lists of bytes, put together in the order in which the machine runs them.

/** What the language's own types leave out: they come with a browser's. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: Record<string, unknown> };
};

export type Code = readonly number[];

export const i32 = 0x7f;
export const i64 = 0x7e;

export const get = (local: number): Code => [0x20, local];
export const set = (local: number): Code => [0x21, local];
export const constant = (value: number): Code => [0x41, ...signedLeb(value)];
export const constant64 = (value: number): Code => [0x42, ...signedLeb(value)];
export const load8 = (offset: number): Code => [0x2d, 0, ...leb(offset)];
export const load32 = (offset: number): Code => [0x28, 0, ...leb(offset)];
export const load64 = (offset: number): Code => [0x29, 0, ...leb(offset)];

/** Words that take their operands from the stack. */
export const op = {
  equal: [0x46],
  add: [0x6a],
  and: [0x71],
  xor: [0x73],
  shiftLeft: [0x74],
  shiftRight: [0x76],
  xor64: [0x85],
  shiftRight64: [0x88],
  /** The low 32 bits of 64. */
  wrap: [0xa7],
  /** 32 bits as 64, unsigned. */
  extend: [0xad],
} as const satisfies Record<string, Code>;

/** `while (!condition) body` */
export function until(condition: Code, body: Code): Code {
  return [0x02, 0x40, 0x03, 0x40, ...condition, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
}

export interface WasmFunction {
  readonly parameters: Code;
  readonly result: number;
  /** Their types; numbered on from the parameters. */
  readonly locals: Code;
  /** Leaves the result on the stack. */
  readonly code: Code;
}

const pageBytes = 64 * 1024;

/** The function and a memory of its own of `memoryBytes`. */
export function instantiate<F>(made: WasmFunction, memoryBytes: number): { run: F; memory: ArrayBuffer } {
  const pages = Math.ceil(memoryBytes / pageBytes);
  const body = [made.locals.length, ...made.locals.flatMap((type) => [1, type]), ...made.code, 0x0b];
  const bytes = Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, made.parameters.length, ...made.parameters, 1, made.result]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...leb(pages)]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('run'), 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return { run: exports.run as F, memory: (exports.memory as { buffer: ArrayBuffer }).buffer };
}

function section(id: number, content: Code): Code {
  return [id, ...leb(content.length), ...content];
}

function name(text: string): Code {
  return [text.length, ...Buffer.from(text)];
}

/** Unsigned LEB128. */
function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

function signedLeb(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return done ? [low] : [low | 0x80, ...signedLeb(rest)];
}
