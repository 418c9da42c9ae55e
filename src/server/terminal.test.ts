import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, Terminal } from './terminal.js';

function screen(isTTY: boolean, environment: Record<string, string> = {}) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const stream = { write, isTTY, columns: 80 } as unknown as NodeJS.WriteStream;
  return { terminal: new Terminal(stream, environment), written };
}

// biome-ignore format: a table
const colours: readonly (readonly [isTTY: boolean, environment: Record<string, string>, coloured: boolean])[] = [
  [true,  {},                     true],
  [false, {},                     false],
  [true,  { NO_COLOR: '1' },      false],
  [true,  { TERM: 'dumb' },       false],
  [false, { FORCE_COLOR: '1' },   true],
  [true,  { FORCE_COLOR: '0' },   false],
];
for (const [isTTY, environment, coloured] of colours) {
  test(`colour on ${isTTY ? 'a terminal' : 'a pipe'} with ${JSON.stringify(environment)}: ${coloured}`, () => {
    const { terminal } = screen(isTTY, environment);
    assert.equal(terminal.paint('green', 'ready'), coloured ? '\x1b[32mready\x1b[0m' : 'ready');
  });
}

test('a bar on a terminal, in 80 columns, gone before the next line; none on a pipe', () => {
  const { terminal, written } = screen(true);
  terminal.progress({ what: 'bytes', done: 512 * 1024, total: 1024 * 1024 });
  assert.deepEqual(written, ['[###############...............]  50 % 512.0 KiB of 1.0 MiB bytes']);
  terminal.line('done');
  assert.equal(written.at(-1), '\r\x1b[2Kdone\n');
  const pipe = screen(false);
  pipe.terminal.progress({ what: 'rows', done: 1, total: 2 });
  pipe.terminal.done();
  assert.equal(pipe.written.join(''), '');
});

// biome-ignore format: a table
const sizes: readonly (readonly [bytes: number, text: string])[] = [
  [0, '0 bytes'], [1023, '1023 bytes'], [1024, '1.0 KiB'], [1536, '1.5 KiB'], [5 * 1024 ** 3, '5.0 GiB'], [2 ** 60, '1048576.0 TiB'],
];
for (const [bytes, text] of sizes) test(`${bytes} is ${text}`, () => assert.equal(formatBytes(bytes), text));
