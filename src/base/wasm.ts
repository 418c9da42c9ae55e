// Just enough of WebAssembly's binary format to write a small module by hand: its words as lists of bytes,
// put together in the order in which the machine runs them.

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
export const constant64 = (value: number | bigint): Code => [0x42, ...signedLeb(value)];
export const load8 = (offset: number): Code => [0x2d, 0, ...leb(offset)];
export const load32 = (offset: number): Code => [0x28, 0, ...leb(offset)];
export const load8as64 = (offset: number): Code => [0x31, 0, ...leb(offset)];
export const load64 = (offset: number): Code => [0x29, 0, ...leb(offset)];

/** Words that take their operands from the stack. */
export const op = {
  equal: [0x46],
  add: [0x6a],
  and: [0x71],
  xor: [0x73],
  shiftLeft: [0x74],
  shiftRight: [0x76],
  isZero64: [0x50],
  subtract64: [0x7d],
  and64: [0x83],
  xor64: [0x85],
  shiftLeft64: [0x86],
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

/** The functions and a memory of their own of `memoryBytes`. */
export function instantiate<Functions>(
  made: Readonly<Record<keyof Functions & string, WasmFunction>>,
  memoryBytes: number,
): { functions: Functions; memory: ArrayBuffer } {
  const entries = Object.entries<WasmFunction>(made);
  const vector = (items: readonly Code[]) => [...leb(items.length), ...items.flat()];
  const bytes = Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      vector(
        entries.map(([, { parameters, result }]) => [0x60, parameters.length, ...parameters, 1, result]),
      ),
    ),
    ...section(3, vector(entries.map((_, index) => [index]))),
    ...section(5, [1, 0, ...leb(Math.ceil(memoryBytes / pageBytes))]),
    ...section(
      7,
      vector([[...name('memory'), 2, 0], ...entries.map(([key], index) => [...name(key), 0, index])]),
    ),
    ...section(10, vector(entries.map(([, each]) => body(each)))),
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return { functions: exports as Functions, memory: (exports.memory as { buffer: ArrayBuffer }).buffer };
}

function body({ locals, code }: WasmFunction): Code {
  const content = [locals.length, ...locals.flatMap((type) => [1, type]), ...code, 0x0b];
  return [...leb(content.length), ...content];
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

/** Of 64 bits. */
function signedLeb(value: number | bigint): number[] {
  const whole = BigInt.asIntN(64, BigInt(value));
  const low = Number(whole & 0x7fn);
  const rest = whole >> 7n;
  const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
  return done ? [low] : [low | 0x80, ...signedLeb(rest)];
}
