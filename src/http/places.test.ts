import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import type { ServiceName } from './call.js';
import { placeOf } from './places.js';
import { parseQuery } from './uri.js';

const places = `
  service   path                          query               resource                        container    name
  blob      -                             -                   /                               -            -
  blob      /                             -                   /                               -            -
  blob      /c                            restype=container   /{container}                    c            -
  blob      /c/                           restype=Container   /{container}                    c            -
  blob      /c                            restype=account     /{container}                    c            -
  blob      /pic.png                      -                   /{container}/{blob}             $root        pic.png
  blob      /pic.png/                     -                   InvalidUri                      -            -
  blob      //                            -                   InvalidUri                      -            -
  blob      /c/b                          -                   /{container}/{blob}             c            b
  blob      /c/a/b/                       -                   /{container}/{blob}             c            a/b/
  blob      /c//b                         -                   /{container}/{blob}             c            /b
  blob      /c/./../b                     -                   /{container}/{blob}             c            ./../b
  blob      /c/a%2Fb%252F                 -                   /{container}/{blob}             c            a/b%2F
  blob      /c/%zz                        -                   InvalidUri                      -            -
  blob      /c/a%00                       -                   InvalidUri                      -            -
  blob      /$root/b                      -                   /{container}/{blob}             $root        b
  queue     /q                            -                   /{queue}                        q            -
  queue     /q/                           -                   /{queue}                        q            -
  queue     /q/messages                   -                   /{queue}/messages               q            -
  queue     /q/messages/                  -                   /{queue}/messages               q            -
  queue     /q/messages/id-1              -                   /{queue}/messages/{messageid}   q            id-1
  queue     /q/messages/a/b               -                   InvalidUri                      -            -
  queue     /q/other                      -                   InvalidUri                      -            -
  table     /Tables                       -                   /Tables                         -            -
  table     /Tables()                     -                   /Tables                         -            -
  table     /Tables('Abc')                -                   /Tables({table})                Abc          -
  table     /Tables(Abc)                  -                   InvalidInput                    -            -
  table     /Abc                          -                   /{table}                        Abc          -
  table     /Abc()                        -                   /{table}                        Abc          -
  table     /Abc(PartitionKey='p',RowKey='%28r%29')   -       /{table}({keys})                Abc          PartitionKey='p',RowKey='(r)'
  table     /Abc(PartitionKey='',RowKey='a/b')        -       /{table}({keys})                Abc          PartitionKey='',RowKey='a/b'
  table     /$batch                       -                   /$batch                         -            -
  file      /s                            -                   /{share}                        s            -
  file      /s                            restype=share       /{share}                        s            -
  file      /s/                           restype=directory   /{share}/{path}                 s            -
  file      /s/d/f.txt                    -                   /{share}/{path}                 s            d/f.txt
  file      /s//d///f                     -                   /{share}/{path}                 s            d/f
  file      /s/d/                         restype=directory   /{share}/{path}                 s            d
  file      /s/a%2Fb                      -                   /{share}/{path}                 s            a/b
  file      /s/a%5Cb                      -                   InvalidResourceName             -            -
  file      /s/../x                       -                   InvalidUri                      -            -
  file      /s/%2e%2e/x                   -                   InvalidUri                      -            -
  file      /s/d/./x                      -                   InvalidUri                      -            -
`;

for (const row of rows(places)) {
  const text = (name: string) => (row[name] === '-' ? '' : (row[name] ?? ''));
  test(`${row.service} ${row.path} ${row.query} is ${row.resource} ${row.container} ${row.name}`, () => {
    const place = () => placeOf(row.service as ServiceName, text('path'), parseQuery(text('query')));
    if (!row.resource?.startsWith('/')) assert.throws(place, { code: row.resource });
    else {
      assert.deepEqual(place(), {
        resource: row.resource,
        container: text('container'),
        name: text('name'),
      });
    }
  });
}
