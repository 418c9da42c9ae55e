// A URL in a header that names something of this server: the source of a copy, of a rename, of a range. It becomes the
// head of a request that is let in or refused like any other.
//
// A source of this server is found by its address: the request's own host, another name of this machine with the same
// port, or the form without a host that old versions had.

import { developmentAccount } from '../services/common/accounts.js';
import { invalidHeader } from '../services/common/errors.js';
import type { Call, RequestHead } from './call.js';

const longestUrl = 2048;
const form = /^https?:\/\/([^/?#]+)(\/[^#]*)?$/i;

/** Nothing if another server has it. */
export function sourceHead(
  call: Call,
  header: string,
  url: string,
  method: 'GET' | 'DELETE' = 'GET',
): RequestHead | undefined {
  if (url.length > longestUrl) throw invalidHeader(header, url.slice(0, longestUrl));
  const [, host, path] = url.startsWith('/') ? [url, call.host, url] : (form.exec(url) ?? []);
  if (host === undefined || path === undefined) throw invalidHeader(header, url);
  if (!isThisServer(host, call)) return undefined;
  const authorization = call.header('x-ms-copy-source-authorization');
  const intent = call.header('x-ms-file-request-intent');
  const headers = {
    host,
    'x-ms-version': call.version,
    ...(authorization === undefined ? {} : { authorization }),
    ...(intent === undefined ? {} : { 'x-ms-file-request-intent': intent }),
  };
  return {
    method,
    url: path,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    remoteAddress: call.remoteAddress,
    secure: call.secure,
  };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.*\.localhost)$/i;

/** Nobody else has that account: az names its sources so, whatever the connection string says. */
const developmentHost = `${developmentAccount.name}.`;

function isThisServer(host: string, { host: own, service }: Call): boolean {
  if (host.toLowerCase() === own.toLowerCase()) return true;
  if (host.toLowerCase() === `${developmentHost}${service}.core.windows.net`) return true;
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
