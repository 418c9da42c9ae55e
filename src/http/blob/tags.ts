// Tags on the wire: get, set, and Find Blobs by Tags.

import type { BlobService } from '../../services/blob/service.js';
import { findBlobs } from '../../services/blob/tag-search.js';
import * as tags from '../../services/blob/tags.js';
import { parseTagSearch } from '../../services/common/tags-filter.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { expectedChecksums, verifyBytes } from '../checksums.js';
import type { Handler } from '../operation.js';
import { pageSize, parameter, requireParameter } from '../parameters.js';
import { element, escapeAttribute, nameElement, parent, xmlAnswer } from '../xml.js';
import { blobAddress, containerKey, guardsOf } from './requests.js';
import { readTags, tagsElement } from './tags-xml.js';

const mostBytes = 64 * 1024;

export const getBlobTags: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'read');
  const found = await tags.getTags(store, containerKey(call), blobAddress(call), guards);
  return xmlAnswer(200, tagsElement(found));
};

export const setBlobTags: Handler<BlobService> = async (call, { store }, _, operation) => {
  const address = blobAddress(call);
  const guards = guardsOf(call, operation, 'write');
  const bytes = await call.body.readAll(mostBytes);
  verifyBytes(expectedChecksums(call), bytes);
  await tags.setTags(store, containerKey(call), address, readTags(bytes), guards);
  return { status: 204, headers: [] };
};

/** In one container if the path names one, else in all. */
export async function findBlobsByTags(call: Call, { store }: BlobService): Promise<Answer> {
  const where = requireParameter(call, 'where');
  const search = parseTagSearch(where);
  const inside = call.container === '' ? search : { ...search, container: containerKey(call)[1] };
  const marker = parameter(call, 'marker');
  const found = await findBlobs(store, call.account, inside, { marker, max: pageSize(call) });
  const rows = found.blobs.map(({ name, container, tags: matched }) =>
    parent(
      'Blob',
      nameElement('Name', name) +
        element('ContainerName', container) +
        (call.version >= '2020-04-08' ? tagsElement(matched) : ''),
    ),
  );
  const body =
    element('Where', where) + parent('Blobs', rows.join('')) + element('NextMarker', found.next ?? '');
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  return xmlAnswer(200, `<EnumerationResults ServiceEndpoint="${endpoint}">${body}</EnumerationResults>`);
}
