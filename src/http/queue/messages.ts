// Messages on the wire.

import { randomInt, randomUUID } from 'node:crypto';
import { formatHttpDate } from '../../base/times.js';
import { invalidParameter, StorageError } from '../../services/common/errors.js';
import * as messages from '../../services/queue/messages.js';
import { decodeReceipt, type Receipt } from '../../services/queue/receipts.js';
import type { QueueService } from '../../services/queue/service.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { integerHeader } from '../headers.js';
import { integerParameter, requireParameter } from '../parameters.js';
import { element, parent, xmlAnswer } from '../xml.js';
import { requireChild, requireRoot } from '../xml-fields.js';
import { parseXml } from '../xml-parser.js';
import { queueKey } from './queues.js';

const longestVisibility = 7 * 24 * 3600;
const mostAtOnce = 32;
const longestText = 65_536;
/** Escaping can make the text longer, at most to this. */
const longestBody = 6 * longestText + 1024;
/** `Fri, 31 Dec 9999 23:59:59 GMT`: what a message that never expires shows. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);
const ttlOfAnyLength = '2017-07-29';
const bodyOnPut = '2016-05-31';

/** Beyond the reference: how many seconds a get waits for a message where there is none. */
const waitHeader = 'x-lazuli-wait';
const longestWait = 20;

const newNonce = () => randomInt(2 ** 32);

export async function putMessage(call: Call, { store }: QueueService): Promise<Answer> {
  const ttl = timeToLive(call);
  const visibility = integerParameter(call, 'visibilitytimeout', 0, longestVisibility) ?? 0;
  if (visibility >= ttl)
    throw invalidParameter('visibilitytimeout', String(visibility), 'It must be below messagettl.');
  const message = await messages.putMessage(store, queueKey(call), {
    id: randomUUID(),
    nonce: newNonce(),
    text: textIn(await call.body.readAll(longestBody)),
    visibilityMs: visibility * 1000,
    ttlMs: ttl * 1000,
  });
  if (call.version < bodyOnPut) return { status: 201, headers: [] };
  const row = parent('QueueMessage', whenAndWho(message) + handOut(message));
  return xmlAnswer(201, parent('QueueMessagesList', row));
}

export async function getMessages(call: Call, { store }: QueueService): Promise<Answer> {
  const most = integerParameter(call, 'numofmessages', 1, mostAtOnce) ?? 1;
  const visibility = integerParameter(call, 'visibilitytimeout', 1, longestVisibility) ?? 30;
  const options = { most, visibilityMs: visibility * 1000, nonce: newNonce };
  const waitMs = Math.min((integerHeader(call, waitHeader, 0, longestWait) ?? 0) * 1000, call.timeoutMs);
  const found =
    waitMs === 0
      ? await messages.getMessages(store, queueKey(call), options)
      : await messages.awaitMessages(store, queueKey(call), {
          ...options,
          waitMs,
          isGone: () => call.isGone,
        });
  const rows = found.map((message) =>
    parent('QueueMessage', whenAndWho(message) + handOut(message) + countAndText(message)),
  );
  return xmlAnswer(200, parent('QueueMessagesList', rows.join('')), ['Cache-Control', 'no-cache']);
}

export async function peekMessages(call: Call, { store }: QueueService): Promise<Answer> {
  const most = integerParameter(call, 'numofmessages', 1, mostAtOnce) ?? 1;
  const found = await messages.peekMessages(store, queueKey(call), most);
  const rows = found.map((message) => parent('QueueMessage', whenAndWho(message) + countAndText(message)));
  return xmlAnswer(200, parent('QueueMessagesList', rows.join('')), ['Cache-Control', 'no-cache']);
}

export async function updateMessage(call: Call, { store }: QueueService): Promise<Answer> {
  const receipt = receiptOf(call);
  requireParameter(call, 'visibilitytimeout');
  const visibility = integerParameter(call, 'visibilitytimeout', 0, longestVisibility) ?? 0;
  const body = await call.body.readAll(longestBody);
  const update = {
    visibilityMs: visibility * 1000,
    text: body.length === 0 ? undefined : textIn(body),
    nonce: newNonce(),
  };
  const updated = await messages.updateMessage(store, queueKey(call), call.name, receipt, update);
  const headers = [
    'x-ms-popreceipt',
    updated.receipt,
    'x-ms-time-next-visible',
    formatHttpDate(updated.nextVisible),
  ];
  return { status: 204, headers };
}

export async function deleteMessage(call: Call, { store }: QueueService): Promise<Answer> {
  await messages.deleteMessage(store, queueKey(call), call.name, receiptOf(call));
  return { status: 204, headers: [] };
}

export async function clearMessages(call: Call, { store }: QueueService): Promise<Answer> {
  await messages.clearMessages(store, queueKey(call));
  return { status: 204, headers: [] };
}

/** In seconds; Infinity: for ever. */
function timeToLive(call: Call): number {
  const most = call.version >= ttlOfAnyLength ? 2 ** 31 - 1 : longestVisibility;
  const seconds = integerParameter(call, 'messagettl', -1, most) ?? longestVisibility;
  if (seconds === -1 && call.version >= ttlOfAnyLength) return Number.POSITIVE_INFINITY;
  if (seconds < 1) throw invalidParameter('messagettl', String(seconds));
  return seconds;
}

/** The text of `<QueueMessage><MessageText>`; elements inside it are left out, as the reference says. */
function textIn(body: Buffer): string {
  const root = requireRoot(parseXml(body), 'QueueMessage');
  const { text } = requireChild(root, 'MessageText');
  if (Buffer.byteLength(text) > longestText) {
    throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(longestText) } });
  }
  return text;
}

function receiptOf(call: Call): Receipt {
  const text = requireParameter(call, 'popreceipt');
  const receipt = decodeReceipt(text);
  if (!receipt.ok) throw invalidParameter('popreceipt', text, 'Invalid pop receipt format.');
  return receipt.value;
}

function date(ms: number): string {
  return formatHttpDate(Math.min(ms, endOfTime));
}

function whenAndWho({ id, inserted, expires }: messages.Message): string {
  return (
    element('MessageId', id) +
    element('InsertionTime', date(inserted)) +
    element('ExpirationTime', date(expires))
  );
}

function handOut({ receipt, nextVisible }: messages.Message): string {
  return element('PopReceipt', receipt) + element('TimeNextVisible', date(nextVisible));
}

function countAndText({ dequeued, text }: messages.Message): string {
  return element('DequeueCount', String(dequeued)) + element('MessageText', text);
}
