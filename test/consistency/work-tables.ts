// Calls on the rows of a partition: one by one, by batches, by queries.

import type { PartitionCall, Result, RowWrite } from './models.js';
import { type Answer, type Place, pick, recorded, remember, type Thread, written } from './thread.js';

export const rowNames = ['r0', 'r1', 'r2'];

export function actOnPartition(thread: Thread, place: Place, object: string): Promise<unknown> {
  const kind = thread.random();
  const row = pick(thread, rowNames);
  const value = `${thread.client}-${++thread.count}-40`;
  const known = thread.seen.get(`${object} ${row}`)?.value;
  if (kind < 0.2) return partition(thread, place, object, { op: 'read', row });
  if (kind < 0.4)
    return partition(thread, place, object, { op: 'query', rows: pick(thread, [rowNames, ['r0', 'r2']]) });
  if (kind < 0.45) return partition(thread, place, object, { op: 'upsert', row, value });
  if (kind < 0.55) return partition(thread, place, object, { op: 'insert', row, value });
  if (kind < 0.75 && known !== undefined)
    return partition(thread, place, object, { op: 'update', row, value, expects: known });
  if (kind < 0.8) return partition(thread, place, object, { op: 'delete', row });
  const first: RowWrite = known === undefined ? { row, value } : { row, value, expects: known };
  const other = pick(
    thread,
    rowNames.filter((name) => name !== row),
  );
  return partition(thread, place, object, { op: 'batch', writes: [{ row: other, value }, first] });
}

export function actOnWhole(thread: Thread, place: Place, object: string): Promise<unknown> {
  const kind = thread.random();
  const value = `${thread.client}-${++thread.count}-40`;
  const known = thread.seen.get(`${object} r2`)?.value;
  if (kind < 0.5)
    return partition(thread, place, object, { op: 'query', rows: pick(thread, [rowNames, ['r0', 'r2']]) });
  if (kind < 0.6) return partition(thread, place, object, { op: 'read', row: pick(thread, rowNames) });
  const isConditional = known !== undefined && kind < 0.8;
  const writes = rowNames.map(
    (row): RowWrite => (isConditional && row === 'r2' ? { row, value, expects: known } : { row, value }),
  );
  return partition(thread, place, object, { op: 'batch', writes });
}

const noMetadata = { Accept: 'application/json;odata=nometadata' };
const json = { ...noMetadata, 'Content-Type': 'application/json', Prefer: 'return-no-content' };

export async function partition(
  thread: Thread,
  place: Place,
  object: string,
  call: PartitionCall,
): Promise<void> {
  const key = object.replace(' ', '-');
  const pathOf = (row: string) => `/${place.table}(PartitionKey='${key}',RowKey='${row}')`;
  const etagOf = (row: string) => thread.seen.get(`${object} ${row}`)?.etag ?? '';
  const request = { service: 'table' as const };
  switch (call.op) {
    case 'query': {
      const read = ({ text }: { text: string }) => ({ ok: true as const, rows: rowsIn(text) });
      const path = `/${place.table}()?$filter=${encodeURIComponent(filterOf(key, call.rows))}`;
      await recorded(thread, object, call, { ...request, path, method: 'GET', headers: noMetadata }, read);
      return;
    }
    case 'read': {
      const read = (answer: Answer): Result => ({
        ok: true,
        value: (JSON.parse(answer.text) as { V: string }).V,
        etag: String(answer.headers.etag),
      });
      const result = await recorded<PartitionCall, Result>(
        thread,
        object,
        call,
        { ...request, path: pathOf(call.row), method: 'GET', headers: noMetadata },
        read,
      );
      if (result && 'ok' in result) remember(thread, `${object} ${call.row}`, result.value, result.etag);
      return;
    }
    case 'batch':
      await sendBatch(thread, place, object, call, key);
      return;
    case 'delete':
      await recorded(
        thread,
        object,
        call,
        { ...request, path: pathOf(call.row), method: 'DELETE', headers: { ...noMetadata, 'If-Match': '*' } },
        written,
      );
      return;
    default: {
      const body = JSON.stringify({ PartitionKey: key, RowKey: call.row, V: call.value });
      const match = call.op === 'update' ? { 'If-Match': etagOf(call.row) } : {};
      const target =
        call.op === 'insert'
          ? { path: `/${place.table}`, method: 'POST' }
          : { path: pathOf(call.row), method: 'PUT' };
      const result = await recorded(
        thread,
        object,
        call,
        { ...request, ...target, headers: { ...json, ...match }, body },
        written,
      );
      if (result && 'ok' in result) remember(thread, `${object} ${call.row}`, call.value, result.etag);
    }
  }
}

/** All rows as a range; some as points, which a server reads in another way. */
function filterOf(key: string, rows: readonly string[]): string {
  if (rows.length === rowNames.length) return `PartitionKey eq '${key}'`;
  return rows.map((row) => `(PartitionKey eq '${key}' and RowKey eq '${row}')`).join(' or ');
}

function rowsIn(text: string): Record<string, string> {
  const { value } = JSON.parse(text) as { value: { RowKey: string; V: string }[] };
  return Object.fromEntries(value.map(({ RowKey, V }) => [RowKey, V]));
}

async function sendBatch(
  thread: Thread,
  place: Place,
  object: string,
  call: Extract<PartitionCall, { op: 'batch' }>,
  key: string,
): Promise<void> {
  const parts = call.writes.map(({ row, value, expects }) => {
    const path = `/devstoreaccount1/${place.table}(PartitionKey='${key}',RowKey='${row}')`;
    const lines = [
      '--change',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      '',
      `PUT ${path} HTTP/1.1`,
    ];
    lines.push('Content-Type: application/json', 'Accept: application/json;odata=nometadata');
    if (expects !== undefined) lines.push(`If-Match: ${thread.seen.get(`${object} ${row}`)?.etag}`);
    lines.push('', JSON.stringify({ PartitionKey: key, RowKey: row, V: value }), '');
    return lines.join('\r\n');
  });
  const body = [
    '--batch',
    'Content-Type: multipart/mixed; boundary=change',
    '',
    `${parts.join('')}--change--`,
    '--batch--',
    '',
  ].join('\r\n');
  const headers = { ...noMetadata, 'Content-Type': 'multipart/mixed; boundary=batch' };
  await recorded(
    thread,
    object,
    call,
    { service: 'table', path: '/$batch', method: 'POST', headers, body },
    ({ text }): Result => {
      const refused = /HTTP\/1\.1 [45]\d\d/.test(text);
      return refused ? { code: /"code"\s*:\s*"(?:\d+:)?(\w+)"/.exec(text)?.[1] ?? text } : { ok: true };
    },
  );
}
