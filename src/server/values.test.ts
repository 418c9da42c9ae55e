import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Values } from './values.js';

const account = { name: 'mine', keys: ['YQ=='] };

// biome-ignore format: a table
const files: readonly (readonly [content: string | object, message: RegExp | undefined])[] = [
  [{},                                                             undefined],
  ['\uFEFF{"silent": true}',                                       undefined],
  [{ accounts: [account], bearer: { mode: 'basic' } },             undefined],
  ['{',                                                            /lazuli\.json is not JSON/],
  [[],                                                             /holds no object/],
  [{ blobport: 1 },                                                /no option blobport; did you mean blobPort\?/],
  [{ account: 'x' },                                               /no option account$/],
  [{ blobHost: ['127.0.0.1'] },                                    /blobHost is a text, a number, true or false/],
  [{ accounts: {} },                                               /accounts is a list/],
  [{ accounts: [null] },                                           /each of accounts has a name/],
  [{ accounts: [{ keys: ['YQ=='] }] },                             /each of accounts has a name/],
  [{ accounts: [{ name: 'mine' }] },                               /account mine needs keys/],
  [{ accounts: [{ name: 'mine', keys: 'YQ==' }] },                 /account mine needs keys/],
  [{ accounts: [{ name: 'mine', keys: [1] }] },                    /account mine needs keys/],
  [{ accounts: [{ name: 'mine', keys: [] }] },                     /account mine needs keys/],
  [{ accounts: [{ ...account, settings: [] }] },                   /settings of account mine are no object/],
  [{ accounts: [{ ...account, setings: {} }] },                    /account mine has no setings/],
  [{ accounts: [account, account] },                               /names an account twice/],
  [{ bearer: { mode: 'Verified', issuer: 'https://example.org' } }, /lazuli\.json: bearer\.mode is verified or basic/],
];
for (const [content, message] of files) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  test(`lazuli.json with ${text} is ${message === undefined ? 'read' : 'refused'}`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lazuli-values-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'lazuli.json'), text);
    const read = () => new Values(new Map([['location', folder]]), {});
    if (message === undefined) read();
    else assert.throws(read, message);
  });
}

test('an empty path is refused: it is a variable that was not set', () => {
  assert.throws(() => new Values(new Map([['location', '']]), {}), /--location is empty/);
  assert.throws(() => new Values(new Map(), { LAZULI_CONFIG: '' }), /--config is empty/);
});
