// Requests as they go over the wire, for load on the services: signed by one SAS, made once.

import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';

export type Service = 'blob' | 'queue' | 'table';

export interface Asked {
  readonly service: Service;
  readonly method: string;
  /** After the account, with placeholders (load.ts). */
  readonly path: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

export const kilobyte = 'x'.repeat(1024);
export const message = `<QueueMessage><MessageText>${'x'.repeat(900)}</MessageText></QueueMessage>`;
export const entity = (row: string) => `{"PartitionKey":"p","RowKey":"${row}","text":"${'x'.repeat(900)}"}`;
export const json = ['Content-Type: application/json', 'Accept: application/json;odata=nometadata'];
export const block = ['x-ms-blob-type: BlockBlob'];

export const sas = signSas(
  { service: 'blob', account: developmentAccount.name },
  { sv: '2021-12-02', ss: 'bqt', srt: 'sco', sp: 'rwdlacup', se: '2099-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

export function requestOf({ method, path, headers = [], body = '' }: Asked): Buffer {
  const target = `/${developmentAccount.name}${path}${path.includes('?') ? '&' : '?'}${sas}`;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'x-ms-version: 2021-12-02',
    ...headers,
    ...(method === 'GET' ? [] : [`Content-Length: ${body.length}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
