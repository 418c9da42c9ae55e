// Fetching from another server: the source of a copy that is not of this one.
//
// A client names the address, so the server must not be a way into the network it stands in: unless it was told
// otherwise (`--copySources any`), it connects to no address that is loopback, link-local, private or otherwise not
// of the public network. The address is judged when it is connected to, not when its name was looked up
// before, and redirections are not followed.

import { lookup as lookupName } from 'node:dns';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { StorageError } from '../services/common/errors.js';

export type CopySources = 'public' | 'any';

export interface ForeignOptions {
  readonly sources: CopySources;
  readonly headers: Readonly<Record<string, string>>;
  /** How long it may say nothing. */
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ForeignAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
  /** Gives the connection up, whatever still comes. */
  discard(): void;
}

/** 500 `CannotVerifyCopySource` where nobody answers, 403 where it must not be asked. */
export async function fetchForeign(url: string, options: ForeignOptions): Promise<ForeignAnswer> {
  const target = parseUrl(url);
  if (options.sources === 'public' && isIP(bare(target.hostname)) !== 0 && !isPublic(bare(target.hostname))) {
    throw forbiddenAddress();
  }
  const request = target.protocol === 'https:' ? (await import('node:https')).request : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(target, {
      headers: { ...options.headers, accept: '*/*', 'accept-encoding': 'identity' },
      timeout: options.idleMs,
      agent: false,
      ...(options.sources === 'public' ? { lookup: publicLookup } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    sent.on('timeout', () => sent.destroy(new Error('the source did not answer in time')));
    sent.on('error', (error) => reject(error instanceof StorageError ? error : unreachable(error)));
    sent.on('response', (message: IncomingMessage) =>
      resolve({
        status: message.statusCode ?? 0,
        headers: message.headers,
        body: message,
        discard: () => message.destroy(),
      }),
    );
    sent.end();
  });
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // told below
  }
  throw new StorageError('InvalidHeaderValue', { details: { HeaderName: 'x-ms-copy-source' } });
}

function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

const closed = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  closed.addSubnet(network, bits, 'ipv4');
  closed.addSubnet(`::ffff:${network}`, 96 + bits, 'ipv6');
}
for (const [network, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  closed.addSubnet(network, bits, 'ipv6');
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !closed.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** As node looks names up, but a name that has one address that is not public has none. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookupName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '');
    const refused = addresses.find(({ address }) => !isPublic(address));
    if (refused !== undefined) return callback(forbiddenAddress(), '');
    if (options.all) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  });
};

function forbiddenAddress(): StorageError {
  return new StorageError('CannotVerifyCopySource', {
    status: 403,
    message:
      'The source is at an address that is not of the public network. A server started with --copySources any reads it.',
  });
}

function unreachable(cause: Error): StorageError {
  return new StorageError('CannotVerifyCopySource', {
    message: `The source cannot be read: ${cause.message}`,
    cause,
  });
}
