// A table service in a known state, and entities as the wire has them.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { gives, type ServerOptions, startServer, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

export type Json = Record<string, unknown>;

export class TestTable {
  readonly server: TestServer;
  readonly name: string;

  constructor(server: TestServer, name: string) {
    this.server = server;
    this.name = name;
  }

  create(headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.#send('POST', '/Tables', headers, { TableName: this.name });
  }

  drop(): Promise<WireAnswer> {
    return this.#send('DELETE', `/Tables('${this.name}')`);
  }

  insert(entity: Json, headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.#send('POST', `/${this.name}`, headers, entity);
  }

  /** `match`: If-Match; without it PUT and MERGE are upserts. */
  write(method: string, p: string, r: string, entity?: Json, match?: string): Promise<WireAnswer> {
    return this.#send(method, this.path(p, r), match === undefined ? {} : { 'If-Match': match }, entity);
  }

  get(p: string, r: string, query = '', headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.#send('GET', this.path(p, r) + (query && `?${query}`), headers);
  }

  query(query = '', headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.#send('GET', `/${this.name}()${query && `?${query}`}`, headers);
  }

  /** Row keys of what a filter finds. */
  async rows(filter: string): Promise<string[]> {
    const answer = await gives(this.query(`$filter=${encodeURIComponent(filter)}`), 200);
    return (JSON.parse(answer.text) as { value: Json[] }).value.map((entity) => String(entity['RowKey']));
  }

  async read(p: string, r: string): Promise<Json> {
    return JSON.parse((await gives(this.get(p, r), 200)).text) as Json;
  }

  path(p: string, r: string): string {
    const text = (key: string) => encodeURIComponent(key.replaceAll("'", "''")).replaceAll("'", '%27');
    return `/${this.name}(PartitionKey='${text(p)}',RowKey='${text(r)}')`;
  }

  #send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Json,
  ): Promise<WireAnswer> {
    const all = { Accept: 'application/json;odata=minimalmetadata', ...headers };
    if (body === undefined) return this.server.ask({ method, path, headers: all });
    const json = { 'Content-Type': 'application/json', ...all };
    return this.server.ask({ method, path, headers: json, body: JSON.stringify(body) });
  }
}

/** Status and code, in the header and in the body of OData. */
export async function refusesTable(
  answer: Promise<WireAnswer>,
  status: number,
  code: string,
): Promise<WireAnswer> {
  const got = await answer;
  assert.equal(`${got.status} ${got.headers.get('x-ms-error-code') ?? ''}`, `${status} ${code}`, got.text);
  const body = JSON.parse(got.text) as { 'odata.error': { code: string; message: { value: string } } };
  assert.equal(body['odata.error'].code, code);
  assert.match(body['odata.error'].message.value, /RequestId:/);
  return got;
}

export async function givenTable(
  t: TestContext,
  entities: readonly Json[] = [],
  options: ServerOptions = {},
): Promise<{ server: TestServer; table: TestTable }> {
  const server = await startServer(t, 'table', options);
  const table = new TestTable(server, 'people');
  await gives(table.create({ Prefer: 'return-no-content' }), 204);
  for (const entity of entities) await gives(table.insert(entity, { Prefer: 'return-no-content' }), 204);
  return { server, table };
}

export function etagOf(answer: WireAnswer): string {
  return answer.headers.get('etag') ?? '';
}
