// What hostile requests are made of: every header and parameter that the server reads, found in its source so that a
// new one is tried without being told; values that have broken servers before; and bodies to be spoiled.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const source = join(import.meta.dirname, '../../../src/http');
const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(name))
  .map((name) => readFileSync(join(source, name), 'utf8'));

function found(pattern: RegExp): string[] {
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ].sort();
}

export const headerNames = [
  ...found(/'(x-ms-[a-z-]+|x-lazuli-[a-z-]+)'/g),
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range', 'origin', 'prefer'],
  ...['accept', 'content-type', 'content-md5', 'content-encoding', 'content-language', 'dataserviceversion'],
  ...['maxdataserviceversion', 'date', 'expect', 'te', 'upgrade', 'access-control-request-method'],
];

export const parameterNames = [
  ...found(/query\.(?:get|has)\('([$\w-]+)'\)/g),
  ...found(/Parameter\(\s*call,\s*'([$\w-]+)'/g),
  ...['$filter', '$top', '$select', 'nextpartitionkey', 'nextrowkey', 'nexttablename', 'marker', 'snapshot'],
];

// biome-ignore format: a list
export const values = [
  '', ' ', '0', '1', '-1', '00', '1.5', '1e309', 'NaN', 'Infinity', '0x10', '2147483648', '4294967296',
  '9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809', '99999999999999999999999',
  'true', 'TRUE', 'null', 'undefined', 'constructor', '__proto__', 'toString', 'a', 'A', '..', '../..', './.', '/', '\\',
  '*', '"', '""', '"*"', 'W/"0x8D"', '"0x8D1234567890ABC"', "'", "''", '<', '<a>', '&', '&amp;', '%', '%00', '%zz', '%2e%2e%2f',
  'bytes=', 'bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=5-2', 'bytes=0-1,3-4', 'bytes=0-99999999999999999999', 'bytes=a-b', 'items=0-1',
  '2025-13-45', '2025-01-01T00:00:00Z', '0000-00-00', '9999-12-31T23:59:59.9999999Z', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Foo, 99 Bar 2025 99:99:99 GMT',
  'AAAA', 'AAAAAAAAAAAAAAAAAAAAAA==', '====', 'MDAwMQ==', '11111111-2222-3333-4444-555555555555', '{11111111222233334444555555555555}', '11111111222233334444',
  'acquire', 'break', 'renew', 'change', 'release', 'update', 'clear', 'append', 'BlockBlob', 'PageBlob', 'AppendBlob', 'include', 'only', 'none',
  'committed', 'all', 'Hot', 'Archive', 'snapshots,metadata,deleted,tags,versions', 'application/json', 'application/atom+xml', 'multipart/mixed', 'multipart/mixed; boundary=b',
  'text/xml; charset=utf-16', 'gzip', 'chunked', '100-continue', 'return-no-content', 'http://127.0.0.1:1/x', 'http://[::1', 'ftp://x/y', 'file:///etc/passwd', 'http://169.254.169.254/',
  'é', '\u00ff', '\ufeff', 'a=b&c=d', 'a,b,c', ';', ';;;=', 'a'.repeat(300), 'a'.repeat(9000), '(', '()'.repeat(500), '['.repeat(500), "PartitionKey eq 'a'", 'a eq 1 or', 'not not not a',
];

const signed = (inner: string) => `<SignedIdentifiers>${inner}</SignedIdentifiers>`;
const identifier =
  '<SignedIdentifier><Id>a</Id><AccessPolicy><Start>2025-01-01</Start><Expiry>2030-01-01</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier>';
const part = (request: string, body = '') =>
  `--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${request} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n${body}\r\n`;
const changes = (...parts: string[]) =>
  `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${parts.map((text) => text.replaceAll('--b', '--c')).join('')}--c--\r\n--b--\r\n`;

/** Whole bodies of each kind. */
export const bodies: readonly string[] = [
  '',
  'plain content',
  signed(identifier.repeat(2)),
  '<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>MDAwMQ==</Latest><Committed>MDAwMg==</Committed><Uncommitted>MDAwMw==</Uncommitted></BlockList>',
  '<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>true</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors><DefaultServiceVersion>2020-02-10</DefaultServiceVersion></StorageServiceProperties>',
  '<QueueMessage><MessageText>hello &amp; &#65; <![CDATA[x]]></MessageText></QueueMessage>',
  '<KeyInfo><Start>2025-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry></KeyInfo>',
  '<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>',
  '{"TableName":"other1"}',
  '{"PartitionKey":"p","RowKey":"r","a":1,"b":"x","c":true,"d":1.5,"e@odata.type":"Edm.Int64","e":"12","f@odata.type":"Edm.DateTime","f":"2025-01-01T00:00:00Z","g@odata.type":"Edm.Guid","g":"11111111-2222-3333-4444-555555555555","h@odata.type":"Edm.Binary","h":"AAAA"}',
  '{"permission":"O:SYG:SYD:(A;;FA;;;SY)"}',
  changes(
    part('POST /devstoreaccount1/box', '{"PartitionKey":"p","RowKey":"1"}'),
    part("PUT /devstoreaccount1/box(PartitionKey='p',RowKey='2')", '{"a":1}'),
    part("DELETE /devstoreaccount1/box(PartitionKey='p',RowKey='3')"),
  ),
  `${part("GET /devstoreaccount1/box(PartitionKey='p',RowKey='1')")}--b--\r\n`,
  '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><QueueMessage><MessageText>&b;</MessageText></QueueMessage>',
  '<a>'.repeat(5000),
  `<QueueMessage>${'<MessageText>'.repeat(300)}x${'</MessageText>'.repeat(300)}</QueueMessage>`,
  `{"PartitionKey":"p","RowKey":"r","a":${'['.repeat(3000)}${']'.repeat(3000)}}`,
];

/** Names that reach for what is not theirs. */
// biome-ignore format: a list
export const names = [
  '..', '.', '%2e%2e', '%2e%2e%2f%2e%2e%2fsecret.txt', '..%2f..%2fsecret.txt', '../../secret.txt', '..\\..\\secret.txt', '..%5c..%5csecret.txt',
  '%2fetc%2fpasswd', '/etc/passwd', 'C:%5csecret.txt', 'CON', 'NUL', 'nul.txt', 'a%00b', 'a%0ab', '%ff%fe', '%c0%ae%c0%ae', '%e0%80%ae', '....//....//secret.txt',
  '$root', '$logs', '$web', '$batch', 'Tables', 'messages', '-secondary', 'a'.repeat(1100), '%f0%9f%98%80', 'a//b', 'a/./b', 'a/../b', '%252e%252e%252f', '~', '*', '?', ':', '|',
  '__proto__', 'constructor', 'hasOwnProperty',
];
