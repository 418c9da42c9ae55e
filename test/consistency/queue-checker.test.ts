// Each promise of a queue, broken once, is found; the same history unbroken is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkBatches } from './batch-checker.js';
import type { Recorded } from './history.js';
import { checkQueue, type QueueCall, type QueueResult } from './queue-checker.js';

function record(client: string, startMs: number, call: QueueCall, result?: QueueResult): Recorded {
  const base = { client, object: 'q', call, startMs, wire: '' };
  return result ? { ...base, endMs: startMs + 10, result } : { ...base, endMs: Number.POSITIVE_INFINITY };
}

const put = (at: number, text: string, id = text): Recorded =>
  record('a', at, { op: 'put', text, hideMs: 0 }, { ok: true, id });
const get = (client: string, at: number, text: string, count: number, hideMs = 1000): Recorded => {
  const messages = [{ id: text.split('/')[0] ?? '', text, count, receipt: `${text} ${count}` }];
  return record(client, at, { op: 'get', most: 1, hideMs }, { ok: true, messages });
};
const none = (at: number): Recorded =>
  record('b', at, { op: 'get', most: 1, hideMs: 1000 }, { ok: true, messages: [] });
const remove = (at: number, id: string, receipt: string, known = true): Recorded =>
  record('a', at, { op: 'delete', id, receipt }, known ? { ok: true } : undefined);
const update = (at: number, id: string, receipt: string, hideMs: number, text?: string): Recorded =>
  record(
    'a',
    at,
    { op: 'update', id, receipt, hideMs, ...(text === undefined ? {} : { text }) },
    { ok: true, receipt: `${id} updated ${at}` },
  );

function problems(...records: Recorded[]): string[] {
  return problemsAfterJump(0, ...records);
}

function problemsAfterJump(jumpedMs: number, ...records: Recorded[]): string[] {
  return checkQueue(records, { judge: 'judge', jumpedMs }).map(({ what }) => what);
}

test('put, get, delete; and one that is seen again when its time is over', () => {
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), remove(40, 'm', 'm 1')), []);
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), get('judge', 1040, 'm', 2)), []);
});

test('a double hand-out is found, by the time and by the count', () => {
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), get('judge', 500, 'm', 2)), [
    'm was handed out twice while it was hidden',
  ]);
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), get('judge', 2000, 'm', 1)), [
    'm was handed out twice as number 1',
  ]);
  // at the very same time
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), get('judge', 22, 'm', 2)), [
    'm was handed out twice while it was hidden',
  ]);
});

test('an update moves the end of hiding', () => {
  const chain = [put(0, 'm'), get('a', 20, 'm', 1), update(40, 'm', 'm 1', 0)];
  assert.deepEqual(problems(...chain, get('judge', 60, 'm', 2)), []);
  const longer = [put(0, 'm'), get('a', 20, 'm', 1), update(40, 'm', 'm 1', 5000)];
  assert.deepEqual(problems(...longer, get('judge', 2000, 'm', 2)), [
    'm was handed out twice while it was hidden',
  ]);
});

test('a lost message is found, unless it may have been deleted', () => {
  assert.deepEqual(problems(put(0, 'm')), ['m is lost']);
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1)), ['m is lost']);
  assert.deepEqual(problems(put(0, 'm'), get('a', 20, 'm', 1), remove(40, 'm', 'm 1', false)), []);
  assert.deepEqual(problems(record('a', 0, { op: 'put', text: 'm', hideMs: 0 })), []);
});

test('a deleted message that comes back is found', () => {
  const found = problems(
    put(0, 'm'),
    get('a', 20, 'm', 1),
    remove(40, 'm', 'm 1'),
    get('judge', 2000, 'm', 2),
  );
  assert.deepEqual(found, ['m was handed out after it was deleted']);
});

test('a receipt that was replaced and is still good is found', () => {
  const found = problems(put(0, 'm'), get('a', 20, 'm', 1), get('b', 1100, 'm', 2), remove(1200, 'm', 'm 1'));
  assert.deepEqual(found, ['a delete with a receipt that was no longer good succeeded']);
});

test('an old text, one never put, one put once and there twice, one before its time', () => {
  const texts = [put(0, 'm'), get('a', 20, 'm', 1), update(40, 'm', 'm 1', 0, 'm/2')];
  assert.deepEqual(problems(...texts, get('judge', 60, 'm/2', 2)), []);
  assert.deepEqual(problems(...texts, get('judge', 60, 'm', 2)), ['m is an old text']);
  assert.deepEqual(problems(get('judge', 0, 'x', 1)), ['x was handed out and never put']);
  const refused = record('a', 0, { op: 'put', text: 'm', hideMs: 0 }, { code: 'QueueNotFound' });
  assert.deepEqual(problems(refused, get('judge', 20, 'm', 1)), ['m was handed out and never put']);
  assert.deepEqual(problems(put(0, 'm', 'other'), get('judge', 20, 'm', 1)).slice(0, 1), [
    'm was put once and is there twice',
  ]);
  const delayed = record('a', 0, { op: 'put', text: 'm', hideMs: 1000 }, { ok: true, id: 'm' });
  assert.deepEqual(problems(delayed, get('judge', 500, 'm', 1)), ['m was seen before its time']);
});

test('an empty answer while a message lies there is found', () => {
  assert.deepEqual(problems(put(0, 'm'), none(20), get('judge', 40, 'm', 1)), [
    'a get left a message that it could have had',
  ]);
  assert.deepEqual(problems(put(15, 'm'), none(20), get('judge', 40, 'm', 1)), []);
});

test('a message that was put before the clock fell back may stay hidden for as long', () => {
  const history = [put(0, 'm'), none(500), get('judge', 1500, 'm', 1)];
  assert.deepEqual(problemsAfterJump(600, ...history), []);
  assert.deepEqual(problemsAfterJump(400, ...history), ['a get left a message that it could have had']);
});

test('half a batch is found, and a refused one that is seen', () => {
  const writes = ['r', 's'].map((row) => ({ row, value: '1' }));
  const batch = (result: object) => ({
    client: 'a',
    object: 'b',
    call: { op: 'batch', writes },
    result,
    startMs: 0,
    endMs: 1,
    wire: '',
  });
  const query = (rows: object) => ({
    client: 'b',
    object: 'b',
    call: { op: 'query', rows: ['r', 's'] },
    result: { ok: true, rows },
    startMs: 2,
    endMs: 3,
    wire: '',
  });
  const found = (...records: Recorded[]) => checkBatches(records).map(({ what }) => what);
  assert.deepEqual(found(batch({ ok: true }), query({ r: '1', s: '1' })), []);
  assert.deepEqual(found(batch({ ok: true }), query({ r: '1' })), ['half a batch was seen']);
  assert.deepEqual(found(batch({ code: 'UpdateConditionNotSatisfied' }), query({ r: '1', s: '1' })), [
    'a batch that was refused was seen',
  ]);
  assert.deepEqual(found(query({ r: '9', s: '9' })), ['9 was read and never written']);
});
