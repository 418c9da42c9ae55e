// Blocks on the wire: Put Block, Put Block List, Get Block List.

import { crc64, crc64Bytes } from '../../base/crc64.js';
import * as blockBlobs from '../../services/blob/block-blobs.js';
import { turnAfter } from '../../services/blob/block-lists.js';
import { lookFirst } from '../../services/blob/first-look.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader, invalidParameter, invalidXml, StorageError } from '../../services/common/errors.js';
import { checkBlockId, isBlockId } from '../../services/common/names.js';
import type { Answer } from '../answer.js';
import type { Call, Version } from '../call.js';
import { expectedChecksums, verifyBytes } from '../checksums.js';
import { stampHeaders } from '../headers.js';
import type { Handler } from '../operation.js';
import { parameter, requireParameter } from '../parameters.js';
import { sourceRange } from '../ranges.js';
import { element, parent, xmlAnswer } from '../xml.js';
import { requireRoot, textOf } from '../xml-fields.js';
import { parseXml, type XmlNode } from '../xml-parser.js';
import { type Received, receiveBody, receiveSource, transportHeaders } from './bodies.js';
import { customerKeyOf, keyHeaders } from './customer-keys.js';
import { created } from './put-blob.js';
import {
  blobAddress,
  containerKey,
  guardsOf,
  leaseIdOf,
  listHeadersOf,
  newBlobName,
  newBlobOf,
  newTargetOf,
  requireNoBody,
  type Target,
} from './requests.js';
import { openSource } from './sources.js';

const MiB = 1024 * 1024;

function blockLimit(version: Version): number {
  if (version >= '2019-12-12') return 4000 * MiB;
  return version >= '2016-05-31' ? 100 * MiB : 4 * MiB;
}

export function blockIdOf(call: Call): string {
  const id = requireParameter(call, 'blockid');
  checkBlockId(id);
  return id;
}

/** Put Block takes no conditions. */
function blockTarget(call: Call): Target<blockBlobs.BlockGuards> & { readonly id: string } {
  const guards = { leaseId: leaseIdOf(call), key: customerKeyOf(call) };
  return { container: containerKey(call), name: newBlobName(call), id: blockIdOf(call), guards };
}

export const putBlock: Handler<BlobService> = async (call, service) => {
  const target = blockTarget(call);
  const { container, name, guards } = target;
  if (call.body.declaredLength === 0) throw invalidHeader('Content-Length', '0');
  using received = await receiveBody(call, service, {
    limit: blockLimit(call.version),
    md5: false,
    look: () =>
      lookFirst(service.store, container, name, (found, now) => blockBlobs.admitBlock(found, guards, now)),
  });
  return storeBlock(call, service, target, received);
};

export const putBlockFromUrl: Handler<BlobService> = async (call, service, identity, _, inside) => {
  const target = blockTarget(call);
  requireNoBody(call);
  const source = await openSource(call, service, identity, inside, sourceRange(call), 'source');
  const limit = blockLimit(call.version);
  using received = await receiveSource(call, service, source, { limit, md5: false });
  return storeBlock(call, service, target, received);
};

async function storeBlock(
  call: Call,
  { store }: BlobService,
  { container, name, id, guards }: ReturnType<typeof blockTarget>,
  received: Received,
): Promise<Answer> {
  await blockBlobs.putBlock(store, container, name, id, received.body, guards);
  const headers = [...transportHeaders(call, received), 'x-ms-request-server-encrypted', 'true'];
  headers.push(...keyHeaders({ key: guards.key?.sha256 }));
  return { status: 201, headers };
}

/** 50,000 ids of 88 characters with their elements. */
const longestList = 8 * MiB;

export const putBlockList: Handler<BlobService> = async (call, service, identity, operation) => {
  const { container, name, guards } = newTargetOf(call, operation, identity);
  const fresh = newBlobOf(call, service, listHeadersOf(call));
  const bytes = await call.body.readAll(longestList);
  verifyBytes(expectedChecksums(call), bytes);
  const choices = readChoices(bytes);
  const blob = await blockBlobs.putBlockList(service.store, container, name, choices, fresh, guards);
  return created(call, blob, listChecksum(call, bytes));
};

/** Of the document, not of the blob. */
function listChecksum(call: Call, bytes: Buffer): string[] {
  const sent = call.header('content-md5');
  if (sent !== undefined) return ['Content-MD5', sent];
  if (call.version < '2019-02-02') return [];
  return ['x-ms-content-crc64', crc64Bytes(crc64(bytes)).toString('base64')];
}

const sources = { Committed: 'committed', Uncommitted: 'uncommitted', Latest: 'latest' } as const;

/** The blocks that a document names. */
export function readChoices(bytes: Buffer): blockBlobs.BlockChoice[] {
  const root = requireRoot(parseXml(bytes), 'BlockList');
  if (root.children.length > blockBlobs.mostCommitted) throw new StorageError('BlockListTooLong');
  return root.children.map(readChoice);
}

function readChoice(node: XmlNode): blockBlobs.BlockChoice {
  const from = sources[node.name as keyof typeof sources];
  if (from === undefined) throw invalidXml(`'${node.name}' is none of Committed, Uncommitted and Latest.`);
  const id = textOf(node).trim();
  if (!isBlockId(id)) throw new StorageError('InvalidBlockId');
  return { id, from };
}

const listTypes = ['committed', 'uncommitted', 'all'];

export const getBlockList: Handler<BlobService> = async (call, { store }, identity, operation) => {
  const type = parameter(call, 'blocklisttype')?.toLowerCase() ?? 'committed';
  if (!listTypes.includes(type)) throw invalidParameter('blocklisttype', type);
  if (identity.kind === 'anonymous' && type !== 'committed') throw new StorageError('ResourceNotFound');
  const wanted = { committed: type !== 'uncommitted', uncommitted: type !== 'committed' };
  const guards = guardsOf(call, operation, 'read');
  const list = await blockBlobs.getBlockList(store, containerKey(call), blobAddress(call), wanted, guards);
  const document = parent(
    'BlockList',
    (wanted.committed ? await blockElements('CommittedBlocks', list.committed) : '') +
      (wanted.uncommitted ? await blockElements('UncommittedBlocks', list.uncommitted) : ''),
  );
  const headers = list.blob === undefined ? [] : stampHeaders(list.blob.stamp);
  if (list.blob !== undefined) headers.push('x-ms-blob-content-length', String(list.blob.length));
  return xmlAnswer(200, document, headers);
};

async function blockElements(name: string, blocks: readonly blockBlobs.NamedBlock[]): Promise<string> {
  const rows: string[] = [];
  for (const { id, length } of blocks) {
    await turnAfter(rows.push(parent('Block', element('Name', id) + element('Size', String(length)))));
  }
  return parent(name, rows.join(''));
}
