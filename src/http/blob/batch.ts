// Blob Batch: up to 256 deletes, or as many changes of tier, in one request. Each is authorized, judged and
// answered by itself, as if it had come alone. What is wrong with the batch is 400 and nothing of it is done.

import { randomUUID } from 'node:crypto';
import type { BlobService } from '../../services/blob/service.js';
import { orThrow, StorageError } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import { bodyOf } from '../body.js';
import type { Call, RequestHead } from '../call.js';
import {
  boundaryOf,
  multipartType,
  type OutPart,
  type Part,
  parseInnerRequest,
  parseMultipart,
  writeInnerAnswer,
  writeMultipart,
} from '../multipart.js';
import type { Inside, Operation } from '../operation.js';

const mostBytes = 4 * 1024 * 1024;
const mostRequests = 256;
const atOnce = 16;

interface InnerCall {
  readonly head: RequestHead;
  readonly contentId: string | undefined;
}

export async function blobBatch(
  call: Call,
  _service: BlobService,
  _identity: Identity,
  _operation: Operation,
  inside: Inside,
): Promise<Answer> {
  const boundary = boundaryOf(call.headers['content-type']);
  if (boundary === undefined) throw new StorageError('InvalidInput');
  const parts = orThrow(parseMultipart(await call.body.readAll(mostBytes), boundary, mostRequests));
  if (parts.length === 0 || parts.length > mostRequests) throw new StorageError('InvalidInput');
  const requests = parts.map((part) => readPart(call, part));
  checkRequests(call, requests);
  const answers: OutPart[] = [];
  for (let at = 0; at < requests.length; at += atOnce) {
    const some = requests.slice(at, at + atOnce);
    answers.push(...(await Promise.all(some.map((request) => answerOf(request, inside)))));
  }
  const out = `batchresponse_${randomUUID()}`;
  return { status: 202, headers: ['Content-Type', multipartType(out)], body: writeMultipart(out, answers) };
}

/**
 * The request inside a part. Its host and its version are those of the batch; neither is signed. In a path that begins
 * with the account, clients name it (JavaScript) or leave it out (Python).
 */
function readPart(call: Call, part: Part): InnerCall {
  const { method, url, headers, rawHeaders } = orThrow(parseInnerRequest(part.body));
  const host = call.headers.host ?? '';
  const version = call.header('x-ms-version') ?? call.version;
  const [path = ''] = url.split('?');
  const isBare = call.style === 'path' && !path.startsWith(`/${call.account}/`);
  return {
    contentId: part.headers.get('content-id'),
    head: {
      method,
      url: isBare ? `/${call.account}${url}` : url,
      ...(isBare ? { signedPath: path } : {}),
      headers: { ...headers, host, 'x-ms-version': version },
      rawHeaders,
      remoteAddress: call.remoteAddress,
      secure: call.secure,
    },
  };
}

/** All delete or all set a tier, and none looks beyond the container that the batch was sent to. */
function checkRequests(call: Call, requests: readonly InnerCall[]): void {
  const kinds = new Set(requests.map(({ head }) => kindOf(head)));
  if (kinds.size !== 1 || kinds.has(undefined)) throw new StorageError('InvalidInput');
  if (call.container === '') return;
  for (const { head } of requests) {
    const [path = ''] = head.url.split('?');
    if (!path.split('/').includes(call.container)) throw new StorageError('InvalidInput');
  }
}

function kindOf({ method, url }: RequestHead): 'delete' | 'tier' | undefined {
  const comp = /[?&]comp=([^&]*)/i.exec(url)?.[1]?.toLowerCase();
  if (/[?&]restype=/i.test(url)) return undefined;
  if (method === 'DELETE' && comp === undefined) return 'delete';
  return method === 'PUT' && comp === 'tier' ? 'tier' : undefined;
}

async function answerOf({ head, contentId }: InnerCall, inside: Inside): Promise<OutPart> {
  const { status, headers, body } = await inside.respond(head, bodyOf(Buffer.alloc(0)));
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : undefined;
  return {
    headers: [
      'Content-Type',
      'application/http',
      ...(contentId === undefined ? [] : ['Content-ID', contentId]),
    ],
    body: writeInnerAnswer({ status, headers, body: text }),
  };
}
