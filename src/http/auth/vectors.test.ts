// The published signature vectors, each checked in both directions: what we sign, and what we accept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceName } from '../call.js';
import { account, callOf, key } from './calls.suite.js';
import { sign, signedBy } from './hmac.js';
import { sasStringToSign } from './sas.js';
import { readSas } from './sas-token.js';
import { checkSharedKey, type Scheme, stringToSign } from './shared-key.js';

const date = 'Fri, 26 Jun 2015 23:39:12 GMT';
const hello = `/${account}/mycontainer/hello.txt`;
const putHello = {
  'Content-Length': '11',
  'Content-Type': 'text/plain; charset=UTF-8',
  'If-None-Match': '*',
  'x-ms-blob-type': 'BlockBlob',
  'x-ms-date': date,
  'x-ms-version': '2020-10-02',
};

interface KeyVector {
  readonly what: string;
  readonly scheme: Scheme;
  readonly service: ServiceName;
  readonly request: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly signature: string;
}

const keyVectors: KeyVector[] = [
  {
    what: 'SharedKey, blob, path-style GET container metadata',
    scheme: 'SharedKey',
    service: 'blob',
    request: `GET /${account}/mycontainer?restype=container&comp=metadata&timeout=20`,
    headers: { 'x-ms-date': date, 'x-ms-version': '2015-02-21' },
    text: `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${date}\nx-ms-version:2015-02-21\n/devstoreaccount1/devstoreaccount1/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20`,
    signature: '8qkllG2KRigfHAuoixCLQgQEAuR65sidBFzzvqadckM=',
  },
  {
    what: 'SharedKey, blob, host-style, same request',
    scheme: 'SharedKey',
    service: 'blob',
    request: `GET http://${account}.blob.example/mycontainer?restype=container&comp=metadata&timeout=20`,
    headers: { 'x-ms-date': date, 'x-ms-version': '2015-02-21' },
    text: `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${date}\nx-ms-version:2015-02-21\n/devstoreaccount1/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20`,
    signature: 'NpSCSjvDEU2u4o4Lo6MDCJInwPAoMzWC8rMVmx3r3aA=',
  },
  {
    what: 'SharedKey, blob, Put Blob with 11 bytes, If-None-Match and Content-Type',
    scheme: 'SharedKey',
    service: 'blob',
    request: `PUT ${hello}`,
    headers: putHello,
    text: `PUT\n\n\n11\n\ntext/plain; charset=UTF-8\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:${date}\nx-ms-version:2020-10-02\n/devstoreaccount1/devstoreaccount1/mycontainer/hello.txt`,
    signature: '4eXeWzzWX/vniTryOT1JjJJQlCOkJEG/EhFmtm8hXGM=',
  },
  {
    what: 'SharedKeyLite, blob, same Put Blob',
    scheme: 'SharedKeyLite',
    service: 'blob',
    request: `PUT ${hello}`,
    headers: putHello,
    text: `PUT\n\ntext/plain; charset=UTF-8\n\nx-ms-blob-type:BlockBlob\nx-ms-date:${date}\nx-ms-version:2020-10-02\n/devstoreaccount1/devstoreaccount1/mycontainer/hello.txt`,
    signature: 'Nr5nUQLkmN6gtFCVZlIDx5TQZEDGOG/Q9dlBSiFOCJQ=',
  },
  {
    what: 'SharedKey, table, Create Table',
    scheme: 'SharedKey',
    service: 'table',
    request: `POST /${account}/Tables`,
    headers: { 'Content-Type': 'application/json', 'x-ms-date': date },
    text: `POST\n\napplication/json\n${date}\n/devstoreaccount1/devstoreaccount1/Tables`,
    signature: '1nVvaioXMVe40GrAGj4lFGAXTEkl0Uxf2jYVyDa2Yq4=',
  },
  {
    what: 'SharedKeyLite, table, Create Table',
    scheme: 'SharedKeyLite',
    service: 'table',
    request: `POST /${account}/Tables`,
    headers: { 'Content-Type': 'application/json', 'x-ms-date': date },
    text: `${date}\n/devstoreaccount1/devstoreaccount1/Tables`,
    signature: 'VuaBO8Q8Lunn8jBU8fntlFomiNq5rTcfxYB1f9a0Mb8=',
  },
  {
    what: 'SharedKeyLite, table, Get ACL (comp kept)',
    scheme: 'SharedKeyLite',
    service: 'table',
    request: `GET /${account}/mytable?comp=acl&timeout=30`,
    headers: { 'x-ms-date': date },
    text: `${date}\n/devstoreaccount1/devstoreaccount1/mytable?comp=acl`,
    signature: 'MpC6RzUzBqiNVoHxKHSnq2R6rHzJP9Hvy3jzmkv+lu4=',
  },
];

for (const { what, scheme, service, request, headers, text, signature } of keyVectors) {
  test(what, () => {
    const call = callOf(service, request, { headers });
    assert.equal(stringToSign(scheme, call), text);
    assert.equal(sign(key, text), signature);
    checkSharedKey(call, `${scheme} ${account}:${signature}`, [key], Date.parse(date));
  });
}

interface SasVector {
  readonly what: string;
  readonly service: ServiceName;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly text: string;
  readonly signature: string;
  readonly key?: Buffer;
}

const se = '2030-01-01T00:00:00Z';
const delegation = {
  skoid: '11111111-1111-1111-1111-111111111111',
  sktid: '22222222-2222-2222-2222-222222222222',
  skt: '2029-12-31T00:00:00Z',
  ske: se,
  sks: 'b',
  skv: '2020-12-06',
};

const sasVectors: SasVector[] = [
  {
    what: 'account SAS, sv=2019-02-02',
    service: 'blob',
    path: '/',
    fields: { sv: '2019-02-02', ss: 'b', srt: 'sco', sp: 'rwdlac', se, spr: 'https,http' },
    text: `devstoreaccount1\nrwdlac\nb\nsco\n\n${se}\n\nhttps,http\n2019-02-02\n`,
    signature: 'A5lojdK5n3Pw5daTwv4VhWV4jt+Lq4dOVjj0KefXD6U=',
  },
  {
    what: 'account SAS, sv=2020-12-06',
    service: 'blob',
    path: '/',
    fields: { sv: '2020-12-06', ss: 'b', srt: 'sco', sp: 'rwdlac', se, spr: 'https,http' },
    text: `devstoreaccount1\nrwdlac\nb\nsco\n\n${se}\n\nhttps,http\n2020-12-06\n\n`,
    signature: '368kSYUo6PDP7Q4eRcZTEL63pG5BFn2xZDucGPZnBlY=',
  },
  {
    what: 'service SAS of a blob, sv=2015-04-05',
    service: 'blob',
    path: '/mycontainer/hello.txt',
    fields: { sv: '2015-04-05', sr: 'b', sp: 'rw', se },
    text: `rw\n\n${se}\n/blob/devstoreaccount1/mycontainer/hello.txt\n\n\n\n2015-04-05\n\n\n\n\n`,
    signature: 'hlN7QbYkVn70csTTqYl9vu2qPJo86qw9cf2AuXcfKXA=',
  },
  {
    what: 'service SAS of a blob, sv=2018-11-09',
    service: 'blob',
    path: '/mycontainer/hello.txt',
    fields: { sv: '2018-11-09', sr: 'b', sp: 'rw', se },
    text: `rw\n\n${se}\n/blob/devstoreaccount1/mycontainer/hello.txt\n\n\n\n2018-11-09\nb\n\n\n\n\n\n`,
    signature: 'qTeaEhXE0pTFa+p96dWACtnvJVJHw2yDvlPa5uGI0Ig=',
  },
  {
    what: 'service SAS of a blob, sv=2020-12-06',
    service: 'blob',
    path: '/mycontainer/hello.txt',
    fields: { sv: '2020-12-06', sr: 'b', sp: 'rw', se },
    text: `rw\n\n${se}\n/blob/devstoreaccount1/mycontainer/hello.txt\n\n\n\n2020-12-06\nb\n\n\n\n\n\n\n`,
    signature: '54vFfx/BrHxhexxe0upfFuwqn2J5sD/sOZWvlcEcV4k=',
  },
  {
    what: 'service SAS of a container with a policy, sv=2020-12-06',
    service: 'blob',
    path: '/mycontainer?restype=container',
    fields: { sv: '2020-12-06', sr: 'c', si: 'policy1' },
    text: '\n\n\n/blob/devstoreaccount1/mycontainer\npolicy1\n\n\n2020-12-06\nc\n\n\n\n\n\n\n',
    signature: 'jQ/7RjPhSvsUkJd1/4Mlk1fzHwrFRK4j1c87cq3fI2w=',
  },
  {
    what: 'service SAS of a queue, sv=2018-03-28',
    service: 'queue',
    path: '/myqueue',
    fields: { sv: '2018-03-28', sp: 'raup', se },
    text: `raup\n\n${se}\n/queue/devstoreaccount1/myqueue\n\n\n\n2018-03-28`,
    signature: 'C21DfUsqpklgUq0ORW9Fo7uVhluEk0M5QO5RJt9FUlc=',
  },
  {
    what: 'service SAS of a table with keys, sv=2018-03-28',
    service: 'table',
    path: '/MyTable',
    fields: { sv: '2018-03-28', tn: 'MyTable', sp: 'raud', se, spk: 'a', srk: 'b', epk: 'c', erk: 'd' },
    text: `raud\n\n${se}\n/table/devstoreaccount1/mytable\n\n\n\n2018-03-28\na\nb\nc\nd`,
    signature: 'f06g/xT+HRX182fydwRhEj7Z2YA5ZYxRGEyYOYqIi18=',
  },
  {
    what: 'service SAS of a share, sv=2018-11-09',
    service: 'file',
    path: '/myshare',
    fields: { sv: '2018-11-09', sr: 's', sp: 'rcwdl', se },
    text: `rcwdl\n\n${se}\n/file/devstoreaccount1/myshare\n\n\n\n2018-11-09\n\n\n\n\n`,
    signature: '5E8HmgzBdQGxYEmsPEt0bP49MKB00vlETcU+srfSKYo=',
  },
  {
    what: 'user delegation SAS of a blob, sv=2020-12-06',
    service: 'blob',
    path: '/mycontainer/hello.txt',
    fields: { sv: '2020-12-06', sr: 'b', sp: 'r', se, ...delegation },
    text: `r\n\n${se}\n/blob/devstoreaccount1/mycontainer/hello.txt\n11111111-1111-1111-1111-111111111111\n22222222-2222-2222-2222-222222222222\n2029-12-31T00:00:00Z\n${se}\nb\n2020-12-06\n\n\n\n\n\n2020-12-06\nb\n\n\n\n\n\n\n`,
    signature: 'NWMmKZjrZ1oMe74yCytcvAuiWifgATBDWAI6ABWvNSA=',
    key: Buffer.from(Array.from({ length: 32 }, (_, index) => index)),
  },
];

for (const { what, service, path, fields, text, signature, key: own = key } of sasVectors) {
  test(what, () => {
    const query = Object.entries({ ...fields, sig: signature }).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    );
    const call = callOf(service, `GET /${account}${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`);
    const token = readSas(call);
    assert.equal(sasStringToSign(token, call), text);
    assert.equal(sign(own, text), signature);
    assert.ok(signedBy([own], text, token.signature));
  });
}
