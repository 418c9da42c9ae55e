// A queue service in a known state, and its messages as values.

import type { TestContext } from 'node:test';
import { gives, type ServerOptions, startServer, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

export interface ShownMessage {
  readonly [element: string]: string;
}

export class TestQueue {
  readonly server: TestServer;
  readonly name: string;

  constructor(server: TestServer, name: string) {
    this.server = server;
    this.name = name;
  }

  ask(method: string, path = '', headers: Record<string, string> = {}, body?: string): Promise<WireAnswer> {
    return this.server.ask({
      method,
      path: `/${this.name}${path}`,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  }

  create(headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.ask('PUT', '', headers);
  }

  put(text: string, query = '', headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.ask('POST', `/messages${query && `?${query}`}`, headers, messageBody(text));
  }

  get(query = '', headers: Record<string, string> = {}): Promise<WireAnswer> {
    return this.ask('GET', `/messages${query && `?${query}`}`, headers);
  }

  /** The messages of a get. */
  async take(query = ''): Promise<ShownMessage[]> {
    return messagesIn(await gives(this.get(query), 200));
  }

  async peek(query = ''): Promise<ShownMessage[]> {
    return messagesIn(await gives(this.get(`peekonly=true${query && `&${query}`}`), 200));
  }

  update(message: ShownMessage, query: string, text?: string): Promise<WireAnswer> {
    const body = text === undefined ? undefined : messageBody(text);
    return this.ask('PUT', `/messages/${message['MessageId']}?${receipt(message)}&${query}`, {}, body);
  }

  delete(message: ShownMessage): Promise<WireAnswer> {
    return this.ask('DELETE', `/messages/${message['MessageId']}?${receipt(message)}`);
  }

  async count(): Promise<number> {
    const { headers } = await gives(this.ask('GET', '?comp=metadata'), 200);
    return Number(headers.get('x-ms-approximate-messages-count'));
  }
}

export function receipt(message: ShownMessage): string {
  return `popreceipt=${encodeURIComponent(message['PopReceipt'] ?? '')}`;
}

export function messageBody(text: string): string {
  return `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
}

export function messagesIn({ text }: WireAnswer): ShownMessage[] {
  return [...text.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, inner = '']) =>
    Object.fromEntries(
      [...inner.matchAll(/<(\w+)(?: \/>|>(.*?)<\/\1>)/gs)].map(([, name = '', value = '']) => [name, value]),
    ),
  );
}

/** A server with one queue that holds these messages. */
export async function givenQueue(
  t: TestContext,
  texts: readonly string[] = [],
  options: ServerOptions = {},
): Promise<{ server: TestServer; queue: TestQueue }> {
  const server = await startServer(t, 'queue', options);
  const queue = new TestQueue(server, 'work');
  await gives(queue.create(), 201);
  for (const text of texts) await gives(queue.put(text), 201);
  return { server, queue };
}
