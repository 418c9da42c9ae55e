// Many at once: of those that exclude each other exactly one wins, and of those that do not every one counts. All of it
// on a server that has nothing else to do, and on one that is busy with others.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Container, type Given, given, header, leaseA, leaseB, type State } from '../../support/given.js';
import { gives } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

const many = 100;

async function together(ask: (index: number) => Promise<WireAnswer>): Promise<WireAnswer[]> {
  return Promise.all(Array.from({ length: many }, (_, index) => ask(index)));
}

/** How often each outcome came. */
function tally(answers: readonly WireAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, headers } of answers) {
    const outcome = `${status} ${headers.get('x-ms-error-code') ?? ''}`.trim();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** Others who write, read and list, until they are told that it is over. */
class Load {
  #isOver = false;
  #working: Promise<void>[] = [];

  begin({ server }: Given): void {
    const container = new Container(server, 'others');
    this.#working = Array.from({ length: 12 }, (_, worker) => this.#work(container, worker));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  async #work(container: Container, worker: number): Promise<void> {
    await container.create();
    for (let count = 0; !this.#isOver; count++) {
      const blob = container.blob(`${worker} ${count % 20}`);
      await gives(blob.upload('x'.repeat((count % 4) * 6000)), 201);
      await gives(blob.get(), 200);
      if (count % 5 === 0) await gives(container.list(), 200);
    }
  }
}

function race(name: string, run: (given: (state?: State) => Promise<Given>) => Promise<void>): void {
  test(name, (t) => run((state) => given(t, state)));
  test(`${name}, under load`, (t) => {
    const load = new Load();
    t.after(() => load.end()); // before the server stops
    return run(async (state) => {
      const found = await given(t, state);
      load.begin(found);
      return found;
    });
  });
}

race('of many that create a blob if it is not there, one does', async (given) => {
  const { blob } = await given();
  const answers = await together((index) => blob.upload(`v${index}`, { 'If-None-Match': '*' }));
  assert.deepEqual(tally(answers), { '201': 1, '409 BlobAlreadyExists': many - 1 });
  const winner = answers.findIndex(({ status }) => status === 201);
  assert.equal(await blob.text(), `v${winner}`);
});

race('of many that create it with blocks if it is not there, one does', async (given) => {
  const { blob } = await given();
  await gives(blob.putBlock('a', 'one'), 201);
  const answers = await together(() => blob.commit(['Uncommitted a'], { 'If-None-Match': '*' }));
  assert.deepEqual(tally(answers), { '201': 1, '409 BlobAlreadyExists': many - 1 });
});

race('of many that update what they have read, one does, round by round', async (given) => {
  const { blob } = await given({ content: 'v0' });
  for (let round = 0; round < 3; round++) {
    const etag = await blob.etag();
    const answers = await together((index) => blob.upload(`v${index}`, { 'If-Match': etag }));
    assert.deepEqual(tally(answers), { '201': 1, '412 ConditionNotMet': many - 1 });
    const winner = answers.findIndex(({ status }) => status === 201);
    assert.equal(await blob.text(), `v${winner}`);
    assert.equal(await blob.etag(), header(answers[winner] as WireAnswer, 'etag'));
  }
});

race('of many that acquire a lease, one does; with one id, all do', async (given) => {
  const { blob, container } = await given({ content: 'v1' });
  for (const resource of [blob, container]) {
    const answers = await together(() => resource.acquire(60, randomUUID()));
    assert.deepEqual(tally(answers), { '201': 1, '409 LeaseAlreadyPresent': many - 1 });
    await gives(resource.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
    assert.deepEqual(tally(await together(() => resource.acquire(60))), { '201': many });
  }
});

race('of many that append at one position, one does', async (given) => {
  const { blob } = await given({ type: 'AppendBlob' });
  const answers = await together((index) =>
    blob.append(`[${index}]`, { 'x-ms-blob-condition-appendpos': '0' }),
  );
  assert.deepEqual(tally(answers), { '201': 1, '412 AppendPositionConditionNotMet': many - 1 });
});

race('of many that append, every one counts and lands where it was told', async (given) => {
  const { blob } = await given({ type: 'AppendBlob' });
  const answers = await together((index) => blob.append(`[${String(index).padStart(3, '0')}]`));
  assert.deepEqual(tally(answers), { '201': many });
  const text = await blob.text();
  assert.equal(text.length, many * 5);
  for (const [index, answer] of answers.entries()) {
    const offset = Number(header(answer, 'x-ms-blob-append-offset'));
    assert.equal(text.slice(offset, offset + 5), `[${String(index).padStart(3, '0')}]`);
  }
  assert.equal(header(await blob.head(), 'x-ms-blob-committed-block-count'), String(many));
});

race('many blocks come in side by side', async (given) => {
  const { blob } = await given();
  const id = (index: number) => String(index).padStart(3, '0');
  assert.deepEqual(tally(await together((index) => blob.putBlock(id(index), `<${id(index)}>`))), {
    '201': many,
  });
  await gives(blob.commit(Array.from({ length: many }, (_, index) => `Latest ${id(index)}`)), 201);
  assert.equal(await blob.text(), Array.from({ length: many }, (_, index) => `<${id(index)}>`).join(''));
});

race('a snapshot and a delete: whichever comes first, nothing is half there', async (given) => {
  const { container } = await given();
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const blob = container.blob(`b${index}`);
      await gives(blob.upload('v1'), 201);
      const [snapshot, deleted] = await Promise.all([blob.put('comp=snapshot'), blob.delete()]);
      if (snapshot.status === 201) {
        assert.equal(deleted.status, 409, 'a blob with a snapshot is not deleted');
        assert.equal(await blob.text(), 'v1');
        assert.equal(await blob.text(`snapshot=${header(snapshot, 'x-ms-snapshot')}`), 'v1');
      } else {
        assert.deepEqual([snapshot.status, deleted.status], [404, 202]);
        assert.equal((await blob.get()).status, 404);
      }
    }),
  );
});

race(
  'a put and the deletion of its container: it lands before it, or is told that there is none',
  async (given) => {
    const { container, server } = await given();
    for (let round = 0; round < 5; round++) {
      const puts = Array.from({ length: 30 }, (_, index) =>
        container.blob(`b${index}`).upload('x'.repeat(index * 300)),
      );
      const [deleted, ...answers] = await Promise.all([container.delete(), ...puts]);
      assert.equal(deleted?.status, 202);
      for (const answer of answers) assert.ok(answer.status === 201 || answer.status === 404, answer.text);
      await gives(container.create(), 201);
      assert.deepEqual(await container.names(), [], 'nothing of the old one is in the new one');
    }
    await server.running.sweep();
  },
);

race('readers see the old or the new, whole and with its ETag', async (given) => {
  const { blob } = await given({ content: Buffer.alloc(20_000, 'a') });
  const etags = new Map([[await blob.etag(), 'a']]);
  let writing = true;
  const writes = (async () => {
    for (const letter of 'bcdefghijk') {
      const put = await gives(blob.upload(Buffer.alloc(letter < 'f' ? 20_000 : 2000, letter)), 201);
      etags.set(header(put, 'etag'), letter);
    }
    writing = false;
  })();
  const seen: [etag: string, body: Buffer][] = [];
  const read = async () => {
    while (writing) {
      const got = await gives(blob.get(), 200);
      seen.push([header(got, 'etag'), got.body]);
    }
  };
  await Promise.all([writes, read(), read(), read()]);
  for (const [etag, body] of seen) {
    const letter = etags.get(etag) ?? '';
    assert.ok(
      letter !== '' && body.every((byte) => byte === letter.charCodeAt(0)),
      `${etag} is all ${letter}`,
    );
  }
});

race('a write under a lease that was broken meanwhile is refused when it commits', async (given) => {
  const { blob, server } = await given({ content: 'v1', leasedSeconds: 60 });
  const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-lease-id': leaseA, 'Content-Length': '10000' };
  const wire = await server.begin({ method: 'PUT', path: blob.path, headers });
  wire.send('x'.repeat(5000));
  await gives(blob.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  await gives(blob.acquire(60, leaseB), 201);
  const late = await wire.send('x'.repeat(5000)).answer();
  wire.close();
  assert.equal(late.headers.get('x-ms-error-code'), 'LeaseIdMismatchWithBlobOperation');
  assert.equal(await blob.text(), 'v1');
});

race('a client that breaks off leaves nothing behind', async (given) => {
  const { blob, container, server } = await given({ content: 'v1' });
  for (const path of [blob.path, container.blob('new').path]) {
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'Content-Length': '100000' };
    const wire = await server.begin({ method: 'PUT', path, headers });
    wire.send('x'.repeat(50_000)).abort();
  }
  assert.equal(await blob.text(), 'v1');
  assert.deepEqual(await container.names('include=uncommittedblobs'), ['cat.jpg']);
});
