import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bearer } from './bearer.js';
import { bearerProblem } from './bearer-settings.js';

const issuer = 'https://login.example.org/';

// biome-ignore format: a table
const cases: readonly (readonly [settings: unknown, problem: RegExp | undefined])[] = [
  [{ mode: 'basic' },                                                 undefined],
  [{ mode: 'verified', issuer },                                      undefined],
  [{ mode: 'verified', issuer, audiences: ['a'], allowHttp: true },   undefined],
  [{ mode: 'verified', issuer, roles: { x: 'owner', y: { blob: 'reader' } } }, undefined],
  [{ mode: 'verified', issuer: 'mine', jwks: { keys: [] } },          undefined],
  [{ mode: 'verified', issuer: 'http://127.0.0.1:1/' },               undefined],
  ['verified',                                                        /no object/],
  [[],                                                                /no object/],
  [null,                                                              /no object/],
  [{},                                                                /mode is verified or basic/],
  [{ issuer },                                                        /mode is verified or basic/],
  [{ mode: 'Verified', issuer },                                      /mode is verified or basic/],
  [{ mode: 'verify', issuer, allowHttp: true },                       /mode is verified or basic/],
  [{ mode: 'basic', issuer },                                         /no issuer in mode basic/],
  [{ mode: 'verified' },                                              /issuer is missing/],
  [{ mode: 'verified', issuer: '' },                                  /issuer is a text/],
  [{ mode: 'verified', issuer: 'x' },                                 /over https, not from x/],
  [{ mode: 'verified', issuer, jwksUri: 'http://example.org/' },      /over https/],
  [{ mode: 'verified', issuer, jwks: {} },                            /a set of keys/],
  [{ mode: 'verified', issuer, audience: 'x' },                       /no audience/],
  [{ mode: 'verified', issuer, audiences: 'x' },                      /a list of texts/],
  [{ mode: 'verified', issuer, allowHttp: 'yes' },                    /true or false/],
  [{ mode: 'verified', issuer, roles: { x: 'Owner' } },               /a role for each id/],
  [{ mode: 'verified', issuer, roles: { x: { blobs: 'owner' } } },    /a role for each id/],
  [{ mode: 'verified', issuer, toString: 'x' },                       /no toString/],
];
for (const [settings, problem] of cases) {
  test(`${JSON.stringify(settings)} is ${problem === undefined ? 'good' : `refused: ${problem.source}`}`, () => {
    if (problem === undefined) assert.equal(bearerProblem(settings), undefined);
    else {
      assert.match(bearerProblem(settings) ?? '', problem);
      // A program that starts a server in its own process is told as well.
      assert.throws(() => new Bearer(settings as never), problem);
    }
  });
}
