// Pages on the wire: Put Page, Get Page Ranges.

import { parseKeptTime } from '../../services/blob/address.js';
import { lookFirst } from '../../services/blob/first-look.js';
import type { BlobRecord } from '../../services/blob/model.js';
import * as pageBlobs from '../../services/blob/page-blobs.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader, invalidParameter, missingHeader } from '../../services/common/errors.js';
import { pageBytes, type Range } from '../../services/common/range-map.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { stampHeaders, wordHeader } from '../headers.js';
import type { Handler, Operation } from '../operation.js';
import { pageSize, parameter } from '../parameters.js';
import { readRange, sourceRange } from '../ranges.js';
import { element, parent, xmlAnswer } from '../xml.js';
import { sequenceHeader, writtenHeaders } from './blob-headers.js';
import { type Received, receiveBody, receiveSource, transportHeaders } from './bodies.js';
import { keyHeaders } from './customer-keys.js';
import { pagesRange, sequenceConditions } from './page-requests.js';
import { blobAddress, containerKey, guardsOf, requireNoBody, targetOf } from './requests.js';
import { openSource } from './sources.js';

const mostBytes = 4 * 1024 * 1024;

/** The pages that a request writes, and what it demands. */
function pagesTarget(call: Call, operation: Operation) {
  return {
    ...targetOf(call, operation),
    conditions: sequenceConditions(call),
    range: pagesRange(call),
  };
}

export const putPage: Handler<BlobService> = async (call, service, _, operation) => {
  const write = wordHeader(call, 'x-ms-page-write', ['update', 'clear']);
  if (write === undefined) throw missingHeader('x-ms-page-write');
  const target = pagesTarget(call, operation);
  const { container, name, guards, conditions, range } = target;
  const { store } = service;
  if (write === 'clear') {
    requireNoBody(call);
    const blob = await pageBlobs.putPages(store, container, name, range, undefined, conditions, guards);
    return { status: 201, headers: writtenPages(call, blob) };
  }
  const length = call.body.requireLength(mostBytes);
  if (length !== range.end - range.start) throw invalidHeader('Content-Length', String(length));
  using received = await receiveBody(call, service, {
    limit: mostBytes,
    md5: false,
    look: () =>
      lookFirst(store, container, name, (found, now) =>
        pageBlobs.admitPages(found, range, conditions, guards, now),
      ),
  });
  return writePages(call, service, target, received);
};

export const putPageFromUrl: Handler<BlobService> = async (call, service, identity, operation, inside) => {
  const target = pagesTarget(call, operation);
  const { range } = target;
  requireNoBody(call);
  const from = sourceRange(call);
  if (from === undefined) throw missingHeader('x-ms-source-range');
  const source = await openSource(call, service, identity, inside, from, 'source');
  if (source.length !== range.end - range.start) {
    throw invalidHeader('x-ms-source-range', call.header('x-ms-source-range'));
  }
  using received = await receiveSource(call, service, source, { limit: mostBytes, md5: false });
  return writePages(call, service, target, received);
};

async function writePages(
  call: Call,
  { store }: BlobService,
  { container, name, guards, conditions, range }: ReturnType<typeof pagesTarget>,
  received: Received,
): Promise<Answer> {
  const { body } = received;
  const blob = await pageBlobs.putPages(store, container, name, range, body, conditions, guards);
  const more = [...transportHeaders(call, received), 'x-ms-request-server-encrypted', 'true'];
  return { status: 201, headers: [...writtenPages(call, blob), ...more] };
}

function writtenPages(call: Call, blob: BlobRecord): string[] {
  return [...writtenHeaders(blob, call.version), ...sequenceHeader(blob), ...keyHeaders(blob)];
}

const mostRanges = 10_000;

export const getPageRanges: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'read');
  const max = pageSize(call, mostRanges);
  const request = { previous: previousSnapshot(call), range: listedRange(call), max };
  const listed = await pageBlobs.getPageRanges(store, containerKey(call), blobAddress(call), request, guards);
  const rows = listed.ranges.map(({ kind, start, end }) =>
    parent(
      kind === 'written' ? 'PageRange' : 'ClearRange',
      element('Start', String(start)) + element('End', String(end - 1)),
    ),
  );
  const paged = parameter(call, 'maxresults') !== undefined || parameter(call, 'marker') !== undefined;
  const { next } = listed;
  const marker =
    paged || next !== undefined ? element('NextMarker', next === undefined ? '' : String(next)) : '';
  const headers = stampHeaders(listed.blob.stamp);
  headers.push('x-ms-blob-content-length', String(listed.blob.length));
  return xmlAnswer(200, parent('PageList', rows.join('') + marker), headers);
};

function previousSnapshot(call: Call): number | undefined {
  const text = parameter(call, 'prevsnapshot') ?? snapshotOf(call.header('x-ms-previous-snapshot-url'));
  return text === undefined ? undefined : parseKeptTime('prevsnapshot', text);
}

function snapshotOf(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const [, text] = /[?&]snapshot=([^&]+)/.exec(url) ?? [];
  if (text === undefined) throw invalidHeader('x-ms-previous-snapshot-url', url);
  return decodeURIComponent(text);
}

/** Whole pages that the range touches, from the marker on. */
function listedRange(call: Call): Range | undefined {
  const asked = readRange(call);
  const marker = parameter(call, 'marker');
  if (marker !== undefined && !/^\d{1,16}$/.test(marker)) throw invalidParameter('marker', marker);
  if (asked === undefined && marker === undefined) return undefined;
  const start = Math.max(Math.floor((asked?.start ?? 0) / pageBytes) * pageBytes, Number(marker ?? 0));
  const end = Math.ceil(((asked?.end ?? Number.POSITIVE_INFINITY) + 1) / pageBytes) * pageBytes;
  return { start, end };
}
