// Calls on the messages of a queue.

import type { Handed, QueueCall, QueueResult } from './queue-checker.js';
import type { Request } from './sender.js';
import { type Answer, type Place, pick, recorded, type Thread } from './thread.js';

const hidings = [1000, 2000];
export const longestHidingMs = 2000;

export function actOnQueue(thread: Thread, place: Place): Promise<unknown> {
  const kind = thread.random();
  const hideMs = pick(thread, hidings);
  const message = thread.held[Math.floor(thread.random() * thread.held.length)];
  if (kind < 0.35)
    return queue(thread, place, {
      op: 'put',
      text: `${thread.client}-${++thread.count}`,
      hideMs: thread.random() < 0.1 ? 1000 : 0,
    });
  if (kind < 0.6 || !message) return takeMessages(thread, place, hideMs);
  const { id, receipt, text } = message;
  if (kind < 0.75) {
    const hidden = pick(thread, [0, 1000, 2000]);
    const changed =
      thread.random() < 0.5 ? { text: `${text.split('/')[0]}/${thread.client}-${++thread.count}` } : {};
    return updateMessage(thread, place, message, { op: 'update', id, receipt, hideMs: hidden, ...changed });
  }
  // Some receipts are kept after they were used: a second use must be refused.
  if (thread.random() < 0.9) thread.held.splice(thread.held.indexOf(message), 1);
  return queue(thread, place, { op: 'delete', id, receipt });
}

async function takeMessages(thread: Thread, place: Place, hideMs: number): Promise<void> {
  const result = await queue(thread, place, { op: 'get', most: 1 + Math.floor(thread.random() * 4), hideMs });
  if (result && 'ok' in result) thread.held.push(...(result.messages ?? []));
  if (thread.held.length > 12) thread.held.splice(0, thread.held.length - 12);
}

async function updateMessage(
  thread: Thread,
  place: Place,
  message: Handed,
  call: Extract<QueueCall, { op: 'update' }>,
): Promise<void> {
  const result = await queue(thread, place, call);
  if (!result || !('ok' in result)) return;
  const updated = { ...message, receipt: result.receipt ?? '', text: call.text ?? message.text };
  thread.held[thread.held.indexOf(message)] = updated;
}

export function queue(thread: Thread, place: Place, call: QueueCall): Promise<QueueResult | undefined> {
  const path = `/${place.queue}/messages`;
  const service = 'queue' as const;
  const run = (request: Omit<Request, 'service'>, read: (answer: Answer) => QueueResult) =>
    recorded<QueueCall, QueueResult>(thread, 'queue 0', call, { service, ...request }, read);
  const bodyWith = (text: string) => `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
  switch (call.op) {
    case 'put': {
      const query = call.hideMs > 0 ? `?visibilitytimeout=${call.hideMs / 1000}` : '';
      return run({ method: 'POST', path: path + query, body: bodyWith(call.text) }, ({ text }) => ({
        ok: true,
        id: messagesIn(text)[0]?.id ?? '',
      }));
    }
    case 'get':
      return run(
        { method: 'GET', path: `${path}?numofmessages=${call.most}&visibilitytimeout=${call.hideMs / 1000}` },
        ({ text }) => ({ ok: true, messages: messagesIn(text) }),
      );
    case 'update': {
      const target = `${path}/${call.id}?popreceipt=${encodeURIComponent(call.receipt)}&visibilitytimeout=${call.hideMs / 1000}`;
      const body = call.text === undefined ? {} : { body: bodyWith(call.text) };
      return run({ method: 'PUT', path: target, ...body }, ({ headers }) => ({
        ok: true,
        receipt: String(headers['x-ms-popreceipt']),
      }));
    }
    case 'delete':
      return run(
        { method: 'DELETE', path: `${path}/${call.id}?popreceipt=${encodeURIComponent(call.receipt)}` },
        () => ({ ok: true }),
      );
  }
}

function messagesIn(text: string): Handed[] {
  return [...text.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, inner = '']) => {
    const field = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(inner)?.[1] ?? '';
    return {
      id: field('MessageId'),
      text: field('MessageText'),
      count: Number(field('DequeueCount')),
      receipt: field('PopReceipt'),
    };
  });
}
