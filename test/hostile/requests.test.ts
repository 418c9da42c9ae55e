// Every operation with headers, parameters, names and bodies that no client would send. Whatever comes, there is an
// answer that is not a bug's, and the server goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceName } from '#src/http/call.js';
import { takeApart } from '#src/http/dispatch.js';
import { operations } from '../auth/published.js';
import type { WireAnswer } from '../support/wire.js';
import { Spoiler } from './spoil.js';
import { account, checkWell, effort, givenTarget, makeState, seed, send } from './target.js';
import { bodies, headerNames, names, parameterNames, values } from './words.js';

const requestsEach = 900 * effort;
const patienceMs = 15_000;

interface Made {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function makeRequest(spoiler: Spoiler, service: ServiceName): Made {
  const operation = takeApart(spoiler.pick(operations[service]));
  // One that is deleted cannot be made again for a while.
  const box = /^Delete (Share|Container|Table|Queue)$/.test(operation.name) ? 'gone' : 'box';
  const name = (usual: string) => (spoiler.chance(0.1) ? spoiler.pick(names) : usual);
  const path = operation.resource
    .replace(/\{(container|queue|share)\}/, () => name(box))
    .replace(/\{(blob|path)\}/, () => name(spoiler.pick(['thing', 'log', 'new'])))
    .replace('{messageid}', () => name('11111111-2222-3333-4444-555555555555'))
    .replace('({table})', () => `('${name(box)}')`)
    .replace('{table}', () => name(box))
    .replace('{keys}', () =>
      spoiler.chance(0.3)
        ? spoiler.spoil("PartitionKey='p',RowKey='r'", values)
        : "PartitionKey='p',RowKey='r'",
    );
  const query = operation.query.map(([key, value]) => `${key}=${value ?? 'x'}`);
  while (spoiler.chance(0.4))
    query.push(`${spoiler.pick(parameterNames)}=${escaped(spoiler, spoiler.pick(values))}`);
  const headers: Record<string, string> = Object.fromEntries(
    operation.telling.map(([key, value]) => [
      key,
      value ?? spoiler.pick(['*', `http://127.0.0.1/${account}/box/thing`]),
    ]),
  );
  while (spoiler.chance(0.6)) headers[spoiler.pick(headerNames)] = headerValue(spoiler.pick(values));
  const body = spoiler.pick(bodies);
  const spoilt = spoiler.chance(0.5) ? spoiler.spoil(body, values) : body;
  if (service === 'table' && operation.resource === '/$batch')
    headers['content-type'] ??= 'multipart/mixed; boundary=b';
  const method = spoiler.pick(operation.methods);
  const target = `/${account}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return {
    method,
    target: target.replaceAll(' ', '%20'),
    headers,
    body: ['GET', 'HEAD', 'DELETE'].includes(method) && spoiler.chance(0.9) ? '' : spoilt,
  };
}

function escaped(spoiler: Spoiler, value: string): string {
  return spoiler.chance(0.8)
    ? encodeURIComponent(value)
    : value.replaceAll(/[^\x21-\x7e]/g, '').replaceAll('#', '');
}

/** What a header can hold; anything else is for raw.test.ts. */
function headerValue(value: string): string {
  return value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?').slice(0, 4000);
}

/** What the reference answers with 500 or 503 where nothing is wrong with the server. */
const notBugs = ['ServerBusy', 'CannotVerifyCopySource'];

/** What is wrong with an answer, if anything. */
function complaint(answer: WireAnswer | string): string | undefined {
  if (typeof answer === 'string') return answer === 'closed' ? undefined : answer;
  const code = answer.headers.get('x-ms-error-code') ?? '';
  return answer.status < 500 || notBugs.includes(code) ? undefined : `${answer.status} ${code}`;
}

test('a bug, a hang and what is no answer are found', () => {
  const answer = (status: number, code: string): WireAnswer => ({
    ...{ status, reason: '', body: Buffer.alloc(0), text: '' },
    headers: new Map([['x-ms-error-code', code]]),
  });
  assert.deepEqual(['hung', 'not HTTP', 'closed'].map(complaint), ['hung', 'not HTTP', undefined]);
  assert.equal(complaint(answer(500, 'InternalError')), '500 InternalError');
  assert.equal(complaint(answer(503, 'ServerBusy')), undefined);
  assert.equal(complaint(answer(400, 'InvalidInput')), undefined);
});

for (const service of Object.keys(operations) as ServiceName[]) {
  test(`${service}: ${requestsEach} hostile requests (seed ${seed})`, { timeout: 600_000 }, async (t) => {
    const target = await givenTarget(t);
    const { program } = target;
    const spoiler = new Spoiler(seed);
    const wrong: string[] = [];
    const statuses = new Map<number | string, number>();
    for (let count = 0; count < requestsEach && !program.hasEnded; count += 10) {
      if (count % 100 === 0) await makeState(program);
      const requests = Array.from({ length: 10 }, () => makeRequest(spoiler, service));
      const answers = await Promise.all(
        requests.map((request) => send(program, service, request, patienceMs)),
      );
      answers.forEach((answer, index) => {
        const status = typeof answer === 'string' ? answer : answer.status;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const why = complaint(answer);
        if (why !== undefined) wrong.push(`${why}: ${JSON.stringify(requests[index]).slice(0, 1500)}`);
      });
    }
    t.diagnostic(
      `answers: ${[...statuses]
        .sort()
        .map(([status, count]) => `${status} x ${count}`)
        .join(', ')}`,
    );
    assert.deepEqual(wrong.slice(0, 10), []);
    const good = [...statuses].reduce((sum, [status, count]) => sum + (Number(status) < 400 ? count : 0), 0);
    assert.ok(good > requestsEach / 20, 'some requests reach their operation');
    await checkWell(target);
  });
}
