// Get File: all of it or a range, with holes as zeros.

import { md5 } from '../../base/digests.js';
import { invalidHeader } from '../../services/common/errors.js';
import { type ReadFile, readFile } from '../../services/file/files.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader } from '../headers.js';
import { contentRange, cutRange, readRange } from '../ranges.js';
import { encodeMessage, isStructured, messageLength, structuredHeader } from '../structured-body.js';
import { mostBytes } from './bodies.js';
import { fileHeaders } from './file-headers.js';
import { leaseIdOf, readFileTarget } from './requests.js';

const sumHeader = 'x-ms-range-get-content-md5';

export async function getFile(call: Call, service: FileService, identity: Identity): Promise<Answer> {
  const target = readFileTarget(call);
  const range = readRange(call);
  const wantsSum = flagHeader(call, sumHeader);
  const structured = isStructured(call);
  if (wantsSum && (range === undefined || structured)) throw invalidHeader(sumHeader, 'true');
  const read = await readFile(service, target, leaseIdOf(call), (length) => {
    if (range === undefined) return { start: 0, end: length };
    const cut = cutRange(range, length);
    if (wantsSum && cut.end - cut.start >= mostBytes) throw invalidHeader(sumHeader, 'true');
    return { start: cut.start, end: cut.end + 1 };
  });
  const { entry, start, end } = read;
  const headers = fileHeaders(entry, read.now, call.version, identity);
  headers.push('Accept-Ranges', 'bytes');
  const { contentMd5 } = entry.file.http;
  if (range === undefined) {
    if (contentMd5 !== undefined) headers.push('Content-MD5', contentMd5);
  } else {
    headers.push('Content-Range', contentRange({ start, end: end - 1 }, entry.file.length));
    if (contentMd5 !== undefined) headers.push('x-ms-content-md5', contentMd5);
  }
  const status = range === undefined ? 200 : 206;
  if (wantsSum) return summed(status, headers, read);
  return { status, ...content(headers, read, structured) };
}

function content(
  headers: string[],
  { bytes, start, end }: ReadFile,
  structured: boolean,
): Pick<Answer, 'headers' | 'body'> {
  const length = end - start;
  if (!structured) {
    headers.push('Content-Length', String(length));
    return { headers, body: bytes };
  }
  headers.push('x-ms-structured-body', structuredHeader, 'x-ms-structured-content-length', String(length));
  headers.push('Content-Length', String(messageLength(length)));
  return { headers, body: encodeMessage(bytes, length) };
}

async function summed(status: number, headers: string[], { bytes }: ReadFile): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  headers.push('Content-MD5', md5(body).toString('base64'));
  return { status, headers, body };
}
