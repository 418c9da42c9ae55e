import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { type LeasedResource, StorageError } from './errors.js';
import { parseLeaseAction, parseLeaseId } from './lease-request.js';

const idA = 'aaaaaaaa-0000-4000-8000-00000000000a';
const idB = 'bbbbbbbb-0000-4000-8000-00000000000b';
const newId = () => 'new';

const requests = `
  resource    action    id   proposed   duration   period   gives
  blob        acquire   -    -          15         -        acquire new 15
  blob        acquire   -    -          60         -        acquire new 60
  blob        acquire   -    A          -1         -        acquire A Infinity
  blob        ACQUIRE   -    A          15         -        acquire A 15
  blob        acquire   B    A          15         7        acquire A 15
  container   acquire   -    A          15         -        acquire A 15
  share       acquire   -    A          15         -        acquire A 15
  file        acquire   -    A          -1         -        acquire A Infinity
  file        acquire   -    A          15         -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          -          -        MissingRequiredHeader x-ms-lease-duration
  blob        acquire   -    -          14         -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          61         -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          0          -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          -2         -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          15.5       -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    -          soon       -        InvalidHeaderValue x-ms-lease-duration
  blob        acquire   -    nonsense   15         -        InvalidHeaderValue x-ms-proposed-lease-id
  blob        renew     A    -          -          -        renew A
  blob        renew     -    -          -          -        MissingRequiredHeader x-ms-lease-id
  blob        renew     0    -          -          -        InvalidHeaderValue x-ms-lease-id
  file        renew     A    -          -          -        InvalidHeaderValue x-ms-lease-action
  blob        change    A    B          -          -        change A B
  blob        change    -    B          -          -        MissingRequiredHeader x-ms-lease-id
  blob        change    A    -          -          -        MissingRequiredHeader x-ms-proposed-lease-id
  blob        release   A    -          -          -        release A
  blob        release   -    -          -          -        MissingRequiredHeader x-ms-lease-id
  blob        break     -    -          -          -        break undefined
  blob        break     -    -          -          0        break 0
  blob        break     A    -          -          60       break 60
  blob        break     -    -          -          61       InvalidHeaderValue x-ms-lease-break-period
  blob        break     -    -          -          -1       InvalidHeaderValue x-ms-lease-break-period
  blob        break     -    -          -          x        InvalidHeaderValue x-ms-lease-break-period
  file        break     -    -          -          10       break 0
  blob        -         A    -          -          -        MissingRequiredHeader x-ms-lease-action
  blob        steal     A    -          -          -        InvalidHeaderValue x-ms-lease-action
`;

const ids: Record<string, string | undefined> = { A: idA, B: idB, '-': undefined };
const given = (text = '') => (text in ids ? ids[text] : text);

for (const row of rows(requests)) {
  test(`${row.action} of ${row.resource}: ${Object.values(row).slice(2, -1).join(' ')} gives ${row.gives}`, () => {
    assert.equal(outcome(row), row.gives);
  });
}

function outcome(row: Record<string, string>): string {
  try {
    const { action, ...values } = parseLeaseAction(
      {
        action: given(row.action),
        leaseId: given(row.id),
        proposedLeaseId: given(row.proposed),
        duration: given(row.duration),
        breakPeriod: given(row.period),
      },
      newId,
      row.resource as LeasedResource,
    );
    const shown = Object.values(values).map((value) => ({ [idA]: 'A', [idB]: 'B' })[String(value)] ?? value);
    return [action, ...shown.map(String)].join(' ');
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return `${error.code} ${error.details.HeaderName}`;
  }
}

test('every .NET spelling of a GUID is the same id', () => {
  const spellings = [
    'AAAAAAAA-0000-4000-8000-00000000000A',
    'aaaaaaaa000040008000-00000000000a'.replaceAll('-', ''),
    `{${idA}}`,
    `(${idA})`,
    ` ${idA} `,
  ];
  for (const text of spellings) assert.equal(parseLeaseId('x-ms-lease-id', text), idA, text);
});

test('what is not a GUID is refused', () => {
  const wrong = [
    'x',
    `{${idA}`,
    `{${idA})`,
    idA.slice(1),
    `${idA}0`,
    idA.replaceAll('-', '_'),
    `${idA}\n${idA}`,
  ];
  for (const text of wrong) {
    assert.throws(() => parseLeaseId('x-ms-lease-id', text), { code: 'InvalidHeaderValue' }, text);
  }
});
