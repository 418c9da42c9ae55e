// Keys of entities as they stand in a URL, and in the tokens that continue a query.
//
//   a URL       Customers(PartitionKey='o''clock',RowKey='1'), percent-encoded, a quote inside doubled
//   a token     1!8!U21pdGg-: a form, the length of what follows, the key's UTF-8 in Base64 with - for =
//               2!..: the same of its UTF-16, for a key with half a surrogate pair

import { isUtf8 } from 'node:buffer';
import { ok, type Result, refuse } from '../../base/result.js';
import type { EntityKey } from '../../services/table/entity.js';

const quoted = "'((?:[^']|'')*)'";
const partitionFirst = new RegExp(
  `^\\s*PartitionKey\\s*=\\s*${quoted}\\s*,\\s*RowKey\\s*=\\s*${quoted}\\s*$`,
);
const rowFirst = new RegExp(`^\\s*RowKey\\s*=\\s*${quoted}\\s*,\\s*PartitionKey\\s*=\\s*${quoted}\\s*$`);

/** What stands between the parentheses, decoded. */
export function parseEntityKey(text: string): Result<EntityKey, 'InvalidInput'> {
  const usual = partitionFirst.exec(text);
  const [partition, row] = usual ? usual.slice(1) : (rowFirst.exec(text)?.slice(1).reverse() ?? []);
  if (partition === undefined || row === undefined) return refuse('InvalidInput');
  return ok({ partitionKey: unquote(partition), rowKey: unquote(row) });
}

function unquote(text: string): string {
  return text.replaceAll("''", "'");
}

/** `Customers(PartitionKey='p',RowKey='r')`, percent-encoded. */
export function entityPath(table: string, { partitionKey, rowKey }: EntityKey): string {
  return `${table}(PartitionKey='${encodeKeyText(partitionKey)}',RowKey='${encodeKeyText(rowKey)}')`;
}

const plain = /^[\w.~-]*$/;

function encodeKeyText(text: string): string {
  if (plain.test(text)) return text;
  return encodeURIComponent(wellFormed(text).replaceAll("'", "''"));
}

/** Half a surrogate pair has no place in a URL: it becomes U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

export function continuationToken(key: string): string {
  const utf8 = Buffer.from(key);
  const lossless = utf8.toString() === key;
  const text = (lossless ? utf8 : Buffer.from(key, 'utf16le')).toString('base64').replaceAll('=', '-');
  return `${lossless ? 1 : 2}!${text.length}!${text}`;
}

const token = /^([12])!(\d{1,6})!([A-Za-z0-9+/]*-{0,2})$/;

export function parseContinuationToken(text: string): Result<string, 'InvalidInput'> {
  const [, form, length, content = ''] = token.exec(text) ?? [];
  if (form === undefined || Number(length) !== content.length) return refuse('InvalidInput');
  const bytes = Buffer.from(content.replaceAll('-', '='), 'base64');
  if (form === '2') return ok(bytes.toString('utf16le'));
  return isUtf8(bytes) ? ok(bytes.toString()) : refuse('InvalidInput');
}
