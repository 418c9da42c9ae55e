import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recent } from './recent.js';

test('what was set is found until twice the limit has passed', () => {
  const recent = new Recent<number, string>(4);
  recent.set(0, 'zero');
  for (let i = 1; i < 4; i++) recent.set(i, `${i}`);
  assert.equal(recent.get(0), 'zero');
  for (let i = 4; i < 20; i++) recent.set(i, `${i}`);
  assert.equal(recent.get(0), undefined);
  assert.equal(recent.get(19), '19');
});

test('what is used stays', () => {
  const recent = new Recent<number, string>(4);
  recent.set(0, 'zero');
  for (let i = 1; i < 100; i++) {
    recent.set(i, `${i}`);
    assert.equal(recent.get(0), 'zero');
  }
});

test('it never holds more than twice its limit', () => {
  const recent = new Recent<number, number>(8);
  for (let i = 0; i < 1000; i++) {
    recent.set(i, i);
    recent.get(i - 7);
    assert.ok(recent.size <= 16);
  }
});

test('what is deleted is gone from both generations', () => {
  const recent = new Recent<number, number>(2);
  for (let i = 0; i < 3; i++) recent.set(i, i);
  for (let i = 0; i < 3; i++) recent.delete(i);
  assert.equal(recent.size, 0);
});
