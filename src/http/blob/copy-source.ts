// `x-ms-copy-source`: which blob a copy is of, and whether who asks may read it.
//
// A source of this server is found by its address: the request's own host, another name of this machine with the
// same port, or the form without a host that old versions had. Whoever holds the key of the account, or a
// token for it, reads its blobs; any other source has a SAS in its URL or is public.

import type { BlobAddress } from '../../services/blob/address.js';
import type { ContainerKey } from '../../services/blob/model.js';
import { developmentAccount } from '../../services/common/accounts.js';
import { invalidHeader, StorageError } from '../../services/common/errors.js';
import type { Identity } from '../auth/types.js';
import type { Call, RequestHead } from '../call.js';
import { requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { statusOf } from '../status.js';
import { blobAddress, containerKey } from './requests.js';

export interface LocalSource {
  readonly container: ContainerKey;
  readonly address: BlobAddress;
  /** As the client named it. */
  readonly url: string;
}

const longestUrl = 2048;
const header = 'x-ms-copy-source';

/** The source, which is a blob of this server that may be read. */
export async function copySource(call: Call, identity: Identity, inside: Inside): Promise<LocalSource> {
  const url = requireHeader(call, header);
  if (url.length > longestUrl) throw invalidHeader(header, url.slice(0, longestUrl));
  const head = sourceHead(call, url);
  if (head === undefined) throw unreachableSource();
  try {
    const source = await inside.admit(head, ({ account, query }) =>
      mayReadAccount(identity) && account === call.account && !query.has('sig') ? identity : undefined,
    );
    if (source.operation.name !== 'Get Blob') throw invalidHeader(header, url);
    return { container: containerKey(source.call), address: blobAddress(source.call), url };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw asRefusalOfSource(error);
  }
}

function mayReadAccount(identity: Identity): boolean {
  return identity.kind === 'key' || identity.kind === 'bearer';
}

/** What the source said, in the answer to the copy: its status and its words. */
function asRefusalOfSource(error: StorageError): StorageError {
  const status = statusOf(error);
  if (status === 400) return error;
  return new StorageError('CannotVerifyCopySource', {
    status: status === 401 ? 403 : status,
    message: error.message,
  });
}

function unreachableSource(): StorageError {
  return new StorageError('CannotVerifyCopySource', {
    message: 'The source is not a blob of this server.',
  });
}

const form = /^https?:\/\/([^/?#]+)(\/[^#]*)?$/i;

/** The request that reads the source; nothing if another server has it. */
function sourceHead(call: Call, url: string): RequestHead | undefined {
  const [, host, path] = url.startsWith('/') ? [url, call.host, url] : (form.exec(url) ?? []);
  if (host === undefined || path === undefined) throw invalidHeader(header, url);
  if (!isThisServer(host, call.host)) return undefined;
  const authorization = call.header('x-ms-copy-source-authorization');
  const headers = {
    host,
    'x-ms-version': call.version,
    ...(authorization === undefined ? {} : { authorization }),
  };
  return {
    method: 'GET',
    url: path,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    remoteAddress: call.remoteAddress,
    secure: call.secure,
  };
}

/** Nobody else has that account: az names its sources so, whatever the connection string says. */
const developmentHost = `${developmentAccount.name}.blob.core.windows.net`;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.*\.localhost)$/i;

function isThisServer(host: string, own: string): boolean {
  if (host.toLowerCase() === own.toLowerCase() || host.toLowerCase() === developmentHost) return true;
  const [name, port] = split(host);
  const [ownName, ownPort] = split(own);
  if (port !== ownPort) return false;
  return (loopback.test(name) && loopback.test(ownName)) || afterLabel(name) === afterLabel(ownName);
}

function split(host: string): [name: string, port: string] {
  const [, name = host, port = ''] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return [name, port];
}

/** What follows an account's name in a host: `blob.example.org`. A host without it is its own. */
function afterLabel(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(dot + 1).toLowerCase();
}
