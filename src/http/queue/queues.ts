// Queues on the wire.

import { StorageError } from '../../services/common/errors.js';
import { checkName, nameRules } from '../../services/common/names.js';
import type { QueueKey } from '../../services/queue/model.js';
import * as queues from '../../services/queue/queues.js';
import type { QueueService } from '../../services/queue/service.js';
import { readAcl, writeAcl } from '../acl.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { addMetadata, metadataOf } from '../headers.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, optional, parent, xmlAnswer } from '../xml.js';

/** 400 for a name that no queue can have. */
export function queueKey(call: Call): QueueKey {
  checkName('queue', call.container);
  return [call.account, call.container];
}

export async function createQueue(call: Call, { store }: QueueService): Promise<Answer> {
  const outcome = await queues.createQueue(store, queueKey(call), metadataOf(call));
  return { status: outcome === 'created' ? 201 : 204, headers: [] };
}

export async function deleteQueue(call: Call, { store }: QueueService): Promise<Answer> {
  await queues.deleteQueue(store, queueKey(call));
  return { status: 204, headers: [] };
}

export async function getQueueMetadata(call: Call, { store }: QueueService): Promise<Answer> {
  const { metadata, count } = await queues.getQueue(store, queueKey(call));
  const headers = ['Cache-Control', 'no-cache', 'x-ms-approximate-messages-count', String(count)];
  addMetadata(headers, metadata);
  return { status: 200, headers };
}

export async function setQueueMetadata(call: Call, { store }: QueueService): Promise<Answer> {
  await queues.setMetadata(store, queueKey(call), metadataOf(call));
  return { status: 204, headers: [] };
}

export async function getQueueAcl(call: Call, { store }: QueueService): Promise<Answer> {
  const { policies } = await queues.getQueue(store, queueKey(call));
  return xmlAnswer(200, writeAcl(policies, call.version), ['Cache-Control', 'no-cache']);
}

export async function setQueueAcl(call: Call, { store }: QueueService): Promise<Answer> {
  await queues.setPolicies(store, queueKey(call), await readAcl(call, 'queue'));
  return { status: 204, headers: [] };
}

export async function listQueues(call: Call, { store }: QueueService): Promise<Answer> {
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const maxresults = parameter(call, 'maxresults');
  const max = pageSize(call);
  if (marker && nameRules.queue(marker) !== undefined) throw new StorageError('InvalidMarker');
  const metadata = listParameter(call, 'include', ['metadata']).has('metadata');
  const listing = await queues.listQueues(store, call.account, {
    prefix: prefix ?? '',
    marker,
    max,
    metadata,
  });
  const rows = listing.queues.map((queue) => {
    const pairs = queue.metadata.map(([name, value]) => element(name, value)).join('');
    return parent('Queue', element('Name', queue.name) + (metadata ? parent('Metadata', pairs) : ''));
  });
  const asked = optional('Prefix', prefix) + optional('Marker', marker) + optional('MaxResults', maxresults);
  const body = asked + parent('Queues', rows.join('')) + element('NextMarker', listing.next ?? '');
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  const document = `<EnumerationResults ServiceEndpoint="${endpoint}">${body}</EnumerationResults>`;
  return xmlAnswer(200, document, ['Cache-Control', 'no-cache']);
}
