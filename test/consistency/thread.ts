// A client's thread: what it knows, how it makes values, and how it makes a call and writes down what it saw.
//
// A value names its writer, its number and its length (`2.1-17-6000`); what is stored is made from it, so a reader
// knows a body that is torn, mixed or short from one that is whole.

import { nowMs, type Recorded } from './history.js';
import type { Result } from './models.js';
import type { Handed, QueueResult } from './queue-checker.js';
import type { Reply, Request, Sender } from './sender.js';

/** What the server said. */
export type Answer = Extract<Reply, { kind: 'answer' }>;

export interface Thread {
  /** `2.1`: process and thread. */
  readonly client: string;
  readonly random: () => number;
  readonly sender: Sender;
  readonly history: (record: Recorded) => void;
  /** What it knows of objects: a value and its ETag, where it saw one. */
  readonly seen: Map<string, { value: string; etag: string }>;
  /** Objects whose lease it holds, as far as it knows. */
  readonly leased: Set<string>;
  /** Messages it has. */
  readonly held: Handed[];
  count: number;
}

/** One that knows nothing yet. */
export function newThread(told: Pick<Thread, 'client' | 'random' | 'sender' | 'history'>): Thread {
  return { ...told, seen: new Map(), leased: new Set(), held: [], count: 0 };
}

/** Where the objects of one round are. */
export interface Place {
  readonly container: string;
  readonly table: string;
  readonly queue: string;
  readonly share: string;
}

/** For who works on a queue alone, say. */
export const nowhere: Place = { container: '', table: '', queue: '', share: '' };

export function pick<T>(thread: Thread, from: readonly T[]): T {
  return from[Math.floor(thread.random() * from.length)] as T;
}

/** Each client has one lease id for good. */
export function leaseIdOf({ client }: Thread): string {
  const [process = '0', thread = '0'] = client.split('.');
  return `00000000-0000-4000-8000-${process.padStart(6, '0')}${thread.padStart(6, '0')}`;
}

export function newValue(thread: Thread): string {
  const kind = thread.random();
  const length = kind < 0.6 ? 40 : kind < 0.85 ? 6000 : 40_000 + Math.floor(thread.random() * 160_000);
  return `${thread.client}-${++thread.count}-${length}`;
}

/** What is stored for a value. */
export function bodyOf(value: string): string {
  const length = Number(value.split('-')[2]);
  return `${value};`
    .repeat(Math.ceil(length / (value.length + 1)))
    .slice(0, Math.max(length, value.length + 1));
}

export function valueIn(body: string): string {
  const value = body.split(';', 1)[0] ?? '';
  return body === bodyOf(value) ? value : `torn: ${body.length} bytes, ${body.slice(0, 60)}`;
}

export async function recorded<Call, R extends Result | QueueResult>(
  thread: Thread,
  object: string,
  call: Call,
  request: Request,
  read: (answer: Answer) => R,
): Promise<R | undefined> {
  const startMs = nowMs();
  const reply = await thread.sender.send(request);
  const endMs = nowMs();
  if (reply.kind === 'unsent') return undefined;
  const base = { client: thread.client, object, call, startMs };
  if (reply.kind === 'unknown' || reply.status >= 500) {
    const wire = reply.kind === 'unknown' ? reply.why : `${reply.status} ${codeOf(reply)}`;
    thread.history({ ...base, endMs: Number.POSITIVE_INFINITY, wire });
    return undefined;
  }
  const result = reply.status < 400 ? read(reply) : ({ code: codeOf(reply) } as R);
  thread.history({ ...base, endMs, result, wire: `${reply.status} ${codeOf(reply)}`.trim() });
  return result;
}

function codeOf(reply: Answer): string {
  return String(reply.headers['x-ms-error-code'] ?? '');
}

export function remember(
  thread: Thread,
  object: string,
  value: string | null | undefined,
  etag: string | undefined,
): void {
  if (typeof value === 'string' && etag !== undefined) thread.seen.set(object, { value, etag });
}

export function written({ headers }: Answer): Result {
  return headers.etag === undefined ? { ok: true } : { ok: true, etag: headers.etag };
}
