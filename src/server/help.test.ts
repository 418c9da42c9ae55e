import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands, formsOf } from './command-table.js';
import { helpText } from './help.js';
import { options } from './options.js';

const screens = [undefined, ...Object.keys(commands)].map((command) => ({
  command,
  text: helpText('1.2.3', command === undefined ? ['--help'] : [command, '--help']),
}));

for (const { command = 'lazuli', text } of screens) {
  test(`the help of ${command} fits a screen, with a prompt before and after`, () => {
    const lines = text.split('\n');
    for (const line of lines) assert.ok(line.length <= 80, `${line.length} columns: ${line}`);
    const isServer = commands[command]?.options === 'server';
    assert.ok(lines.length <= (isServer ? 38 : 22), `${lines.length} lines`);
    for (const form of formsOf(command)) assert.ok(text.includes(`lazuli ${form}`), form);
  });
}

test('the first screen names every command', () => {
  const [{ text } = { text: '' }] = screens;
  for (const command of Object.keys(commands)) assert.match(text, new RegExp(`\\b${command}\\b`));
});

test('every option is in the help of a command', () => {
  const all = screens.map(({ text }) => text).join('\n');
  for (const { name } of options) {
    const isOfService = /^(blob|queue|table|file|smb|admin)(Host|Port|KeepAliveTimeout)$/.test(name);
    assert.ok(isOfService || all.includes(`--${name}`), name);
  }
});

test('help is of the command that is named, wherever it stands', () => {
  const reset = helpText('1.2.3', ['reset', '--help']);
  for (const args of [
    ['help', 'reset'],
    ['-h', 'reset'],
    ['-l', 'data', 'reset', 'mine', '--help'],
  ]) {
    assert.equal(helpText('1.2.3', args), reset);
  }
  assert.equal(helpText('1.2.3', ['azurite-blob', '-h']), helpText('1.2.3', ['blob', '-h']));
});
