import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeCounter } from './counter.js';
import { ConflictError, LimitError } from './errors.js';
import { openEngine } from './level.js';

const k = (text: string): Buffer => Buffer.from(text);

for (const kind of ['memory', 'disk'] as const) {
  test(`${kind}: commits, reads, ranges, snapshots, counters`, async (t) => {
    const location = mkdtempSync(join(tmpdir(), 'lazuli-engine-'));
    t.after(() => rmSync(location, { recursive: true }));
    const engine = await openEngine(kind === 'memory' ? { memory: true } : { location });
    const first = await engine.commit({
      writes: ['a', 'b', 'c'].map((key) => ({ key: k(key), value: k(key) })),
    });
    const snapshot = engine.snapshot();
    const second = await engine.commit({
      reads: [{ key: k('a'), version: first.version }],
      writes: [{ key: k('b'), value: undefined }],
      adds: [{ key: k('n'), amount: 3, max: 5 }],
    });
    assert.deepEqual(
      (await snapshot.range(k('a'), undefined)).rows.map(({ key }) => String(key)),
      ['a', 'b', 'c'],
    );
    const page = await engine.checkedRange(k('a'), k('d'));
    assert.deepEqual(
      page.rows.map(({ key }) => String(key)),
      ['a', 'c'],
    );
    assert.equal(page.seen, second.version);
    await second.durable;
    assert.equal(engine.settled(second.version), undefined);
    assert.deepEqual(
      (await snapshot.range(k('a'), undefined)).rows.map(({ key }) => String(key)),
      ['a', 'b', 'c'],
    );
    assert.equal(decodeCounter((await engine.get(k('n'))).value), 3);
    assert.throws(() => engine.commit({ adds: [{ key: k('n'), amount: 3, max: 5 }] }), LimitError);
    assert.throws(
      () => engine.commit({ reads: [{ key: k('b'), version: first.version }], writes: [] }),
      ConflictError,
    );
    await engine.commit({ writes: [{ key: k('b'), value: k('new') }] });
    assert.throws(() => engine.commit({ pages: [page] }), ConflictError);
    snapshot[Symbol.dispose]();
    await engine.close();
    if (kind === 'disk') {
      await using again = await openEngine({ location });
      assert.equal(String((await again.get(k('b'))).value), 'new');
      const { version } = await again.commit({ writes: [{ key: k('z'), value: k('z') }] });
      assert.ok(version > second.version + 1);
    }
  });
}
