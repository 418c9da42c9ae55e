import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Given, given, Resource, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

function list({ server }: Given, query = ''): ReturnType<Resource['get']> {
  return new Resource(server, '/').get(query === '' ? 'comp=list' : `comp=list&${query}`);
}

const names = (text: string) => [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name);

test('by name, in pages that go on where the last one ended', async (t) => {
  const it = await given(t);
  for (const name of ['beta', 'alpha', 'gamma', 'alpine']) await gives(new Share(it.server, name).put(), 201);
  const { text } = await gives(list(it), 200);
  assert.deepEqual(names(text), ['alpha', 'alpine', 'beta', 'files', 'gamma']);
  assert.match(text, /<NextMarker \/>/);
  assert.deepEqual(names((await gives(list(it, 'prefix=alp'), 200)).text), ['alpha', 'alpine']);
  const seen: (string | undefined)[] = [];
  let marker = '';
  do {
    const page = (await gives(list(it, `maxresults=2${marker && `&marker=${marker}`}`), 200)).text;
    seen.push(...names(page));
    marker = /<NextMarker>([^<]*)</.exec(page)?.[1] ?? '';
  } while (marker !== '');
  assert.deepEqual(seen, ['alpha', 'alpine', 'beta', 'files', 'gamma']);
});

test('with snapshots, oldest first and before their share, page by page', async (t) => {
  const it = await given(t);
  const [one, two] = [await it.share.snapshot(), await it.share.snapshot()];
  await gives(new Share(it.server, 'other').put(), 201);
  const row = /<Name>([^<]*)<\/Name>(?:<Snapshot>([^<]*)<\/Snapshot>)?/g;
  const seen: string[] = [];
  let marker = '';
  do {
    const query = `include=snapshots&maxresults=1${marker && `&marker=${marker}`}`;
    const page = (await gives(list(it, query), 200)).text;
    seen.push(...[...page.matchAll(row)].map(([, name, snapshot]) => `${name} ${snapshot ?? 'share'}`));
    marker = /<NextMarker>([^<]*)</.exec(page)?.[1] ?? '';
  } while (marker !== '');
  assert.deepEqual(seen, [`files ${one}`, `files ${two}`, 'files share', 'other share']);
});

test('metadata and properties are as the reference shows them', async (t) => {
  const it = await given(t);
  await gives(it.share.put('comp=metadata', { 'x-ms-meta-Colour': 'blue & green' }), 200);
  const { text } = await gives(list(it, 'include=metadata'), 200);
  assert.match(text, /<Metadata><Colour>blue &amp; green<\/Colour><\/Metadata>/);
  assert.match(
    text,
    /<Properties><Last-Modified>[^<]+<\/Last-Modified><Etag>"0x[0-9A-F]+"<\/Etag><LeaseStatus>unlocked<\/LeaseStatus><LeaseState>available<\/LeaseState><Quota>5120<\/Quota><AccessTier>TransactionOptimized<\/AccessTier><AccessTierChangeTime>[^<]+<\/AccessTierChangeTime><EnabledProtocols>SMB<\/EnabledProtocols><\/Properties>/,
  );
});

test('what is no listing is refused', async (t) => {
  const it = await given(t);
  await refuses(list(it, 'maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
  await refuses(list(it, 'maxresults=-1'), 400, 'OutOfRangeQueryParameterValue');
  await refuses(list(it, 'maxresults=x'), 400, 'InvalidQueryParameterValue');
  await refuses(list(it, 'include=everything'), 400, 'InvalidQueryParameterValue');
  await refuses(list(it, 'marker=nonsense'), 400, 'InvalidQueryParameterValue');
});
