import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { knownVersions } from '../services/common/versions.js';
import { negotiateVersion, newestVersion, servedVersion } from './versions.js';

test('the known versions rise, and the last is the newest', () => {
  assert.deepEqual([...knownVersions].sort(), knownVersions);
  assert.equal(knownVersions.at(-1), newestVersion);
});

const served = `
  asked          served
  2008-10-27     2008-10-27
  2021-12-02     2021-12-02
  2022-01-01     2022-01-01
  2026-06-06     2026-06-06
  2026-06-07     2026-06-06
  2099-01-01     2026-06-06
  2021-13-01     -
  2021-00-10     -
  2021-02-32     -
  21-02-03       -
  latest         -
  2021-12-02x    -
  2021/12/02     -
`;

for (const { asked = '', served: expected } of rows(served)) {
  test(`version ${asked} is served as ${expected}`, () => {
    assert.equal(servedVersion(asked) ?? '-', expected);
  });
}

// header, api-version, sv: what the request has; `sig` makes it a SAS
const negotiated = `
  service   sig   header       api          sv           default      authorization   version
  blob      no    2019-02-02   -            -            2015-04-05   yes             2019-02-02
  blob      no    -            -            -            2015-04-05   yes             2015-04-05
  blob      no    -            -            -            2015-04-05   no              2015-04-05
  blob      no    -            -            -            -            no              2009-09-19
  blob      no    -            -            -            -            yes             2026-06-06
  queue     no    -            -            -            -            no              2026-06-06
  table     no    -            -            -            -            yes             2026-06-06
  blob      yes   -            -            2018-11-09   2015-04-05   no              2018-11-09
  blob      yes   2019-02-02   -            2018-11-09   -            no              2019-02-02
  blob      yes   2019-02-02   2020-02-10   2018-11-09   -            no              2020-02-10
  blob      no    2019-02-02   2020-02-10   -            -            no              2019-02-02
  blob      yes   -            -            nonsense     -            no              2026-06-06
  blob      yes   2019-2-2     -            2018-11-09   -            no              InvalidHeaderValue
  blob      yes   2019-02-02   never        2018-11-09   -            no              InvalidQueryParameterValue
`;

for (const row of rows(negotiated)) {
  const given = (name: string) => (row[name] === '-' ? undefined : row[name]);
  test(`negotiates ${JSON.stringify(row)}`, () => {
    const query = new Map<string, string>();
    if (row.sig === 'yes') query.set('sig', 'x');
    for (const [name, key] of [
      ['api', 'api-version'],
      ['sv', 'sv'],
    ] as const) {
      const value = given(name);
      if (value !== undefined) query.set(key, value);
    }
    const negotiate = () =>
      negotiateVersion({
        service: row.service as 'blob',
        header: given('header'),
        query,
        hasAuthorization: row.authorization === 'yes',
        accountDefault: given('default'),
      });
    if (/^\d/.test(row.version ?? '')) assert.equal(negotiate(), row.version);
    else assert.throws(negotiate, { code: row.version });
  });
}
