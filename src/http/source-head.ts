// A URL in a header that names something of this server: the source of a copy, of a rename, of a range. It becomes the
// head of a request that is let in or refused like any other.
//
// A source of this server is found by its address: the request's own host, another name of this machine with the same
// port, or the form without a host that old versions had. One of another service is at that service's port.

import { developmentAccount } from '../services/common/accounts.js';
import { invalidHeader } from '../services/common/errors.js';
import type { OwnSource, SourceAddress } from '../services/common/sources.js';
import type { Call, RequestHead, ServiceName } from './call.js';

const longestUrl = 2048;
const form = /^(https?):\/\/([^/?#]+)(\/[^#]*)?$/i;

/** Where the services of this server listen. */
export type Ports = Readonly<Partial<Record<ServiceName, number>>>;

/** Nothing if another server has it, or another service of this one. */
export function sourceHead(
  call: Call,
  header: string,
  url: string,
  method: 'GET' | 'DELETE' = 'GET',
): RequestHead | undefined {
  if (url.length > longestUrl) throw invalidHeader(header, url.slice(0, longestUrl));
  const { scheme, host, path } = url.startsWith('/')
    ? { scheme: 'http', host: call.host, path: url }
    : parseSource(header, url);
  if (!isThisServer(host, call)) return undefined;
  const headers = { host, 'x-ms-version': call.version, ...tokenHeaders(call) };
  return {
    method,
    url: path,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    remoteAddress: call.remoteAddress,
    secure: isSecure(call, scheme),
  };
}

/** A link may be for HTTPS alone: nothing of it goes over a wire here, and it names that scheme. */
function isSecure({ secure }: Call, scheme: string): boolean {
  return secure || scheme === 'https';
}

/** The token for a source, and what goes with it. */
export function tokenHeaders(call: Call): Record<string, string> {
  const authorization = call.header('x-ms-copy-source-authorization');
  if (authorization === undefined) return {};
  const intent = call.header('x-ms-file-request-intent');
  return {
    ...{ authorization, 'x-ms-version': call.version },
    ...(intent === undefined ? {} : { 'x-ms-file-request-intent': intent }),
  };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.*\.localhost)$/i;

/** Nobody else has that account: az names its sources so, whatever the connection string says. */
const developmentHost = `${developmentAccount.name}.`;

function isThisServer(host: string, { host: own, service, style }: Call): boolean {
  if (host.toLowerCase() === own.toLowerCase()) return true;
  if (host.toLowerCase() === `${developmentHost}${service}.core.windows.net`) return true;
  const [name, port] = split(host);
  const [ownName, ownPort] = split(own);
  if (port !== ownPort) return false;
  if (loopback.test(name) && loopback.test(ownName)) return true;
  return style === 'host' && afterLabel(name) === afterLabel(ownName);
}

function split(host: string): [name: string, port: string] {
  const [, name = host, port = ''] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return [name, port];
}

/** A source that this service does not have: another service of this server does, or another server. */
export function sourceAddress(call: Call, header: string, url: string, ports: Ports): SourceAddress {
  const { scheme, host } = parseSource(header, url);
  const service = neighbours.find((one) => one !== call.service && isAt(one, scheme, host, call, ports));
  if (service === undefined) return { url };
  return { url, own: { service, remoteAddress: call.remoteAddress, secure: isSecure(call, scheme) } };
}

/** The services that have something to copy. */
const neighbours: readonly OwnSource['service'][] = ['blob', 'file'];

function isAt(service: ServiceName, scheme: string, host: string, call: Call, ports: Ports): boolean {
  if (host.toLowerCase() === `${developmentHost}${service}.core.windows.net`) return true;
  const [name, sent] = split(host.toLowerCase());
  const [ownName, ownPort] = split(call.host.toLowerCase());
  const isItsPort = Number(sent || (scheme === 'https' ? 443 : 80)) === ports[service];
  if (isItsPort && (name === ownName || (loopback.test(name) && loopback.test(ownName)))) return true;
  // Account and service in the name: behind a proxy all of them may have one port.
  const isNeighbour =
    name.split('.')[1] === service && afterLabel(afterLabel(name)) === afterLabel(afterLabel(ownName));
  return call.style === 'host' && isNeighbour && (isItsPort || sent === ownPort);
}

/** The parts of a URL; 400 if it is none. */
export function parseSource(header: string, url: string): { scheme: string; host: string; path: string } {
  const [, scheme, host, path] = form.exec(url) ?? [];
  if (scheme === undefined || host === undefined || path === undefined) throw invalidHeader(header, url);
  return { scheme: scheme.toLowerCase(), host, path };
}

/** What follows an account's name in a host: `blob.example.org`. A host without it is its own. */
function afterLabel(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(dot + 1).toLowerCase();
}
