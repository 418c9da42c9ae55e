// Which account a request is for: `http://host:port/account/...` or `http://account.blob.host/...`.
//
// The host names the account when its first label is one and a dot follows; an IP address never does, and
// neither does a name of one label (`localhost`, a compose service). Everything else is path-style, so
// `host.docker.internal`, `[::1]` and any name of the machine work.

import { isIPv4 } from 'node:net';
import { StorageError } from '../services/common/errors.js';

export interface Address<Found> {
  /** Without `-secondary`. */
  readonly account: string;
  /** What is known of it. */
  readonly found: Found;
  readonly secondary: boolean;
  readonly style: 'path' | 'host';
  /** The `Host` header, or the host of an absolute request line. */
  readonly host: string;
  /** The path as sent, with the account's segment. */
  readonly rawPath: string;
  /** The path as sent after the account; empty, or it begins with a slash. */
  readonly resourcePath: string;
  readonly rawQuery: string;
}

export interface AddressOptions<Found> {
  /** Nothing if there is no such account. */
  account(name: string): Found | undefined;
  /** `--disableProductStyleUrl`: the host never names the account. */
  readonly pathStyleOnly: boolean;
}

const suffix = '-secondary';

/** 400 for what is no address, 404 `ResourceNotFound` for an account that does not exist. */
export function readAddress<Found>(
  url: string,
  hostHeader: string | undefined,
  options: AddressOptions<Found>,
): Address<Found> {
  if (beyondAscii.test(url)) throw new StorageError('InvalidUri');
  let host = hostHeader;
  let start = 0;
  if (url.charCodeAt(0) !== slash) {
    const absolute = /^https?:\/\/([^/?#]+)/i.exec(url); // a proxy's form of the request line
    if (absolute === null) throw new StorageError('InvalidUri');
    host = absolute[1];
    start = absolute[0].length;
  }
  if (!host) throw new StorageError('HostInformationNotPresent');

  const question = url.indexOf('?', start);
  const rawPath = url.slice(start, question < 0 ? url.length : question) || '/';
  const rawQuery = question < 0 ? '' : url.slice(question + 1);

  const label = options.pathStyleOnly ? '' : firstLabel(host);
  if (label !== '') {
    const account = withoutSuffix(label);
    const found = options.account(account);
    if (found !== undefined && !isIPv4(withoutPort(host))) {
      const secondary = account !== label;
      return { account, found, secondary, style: 'host', host, rawPath, resourcePath: rawPath, rawQuery };
    }
  }
  const end = rawPath.indexOf('/', 1);
  const segment = end < 0 ? rawPath.slice(1) : rawPath.slice(1, end);
  const account = withoutSuffix(segment);
  const found = options.account(account);
  if (found === undefined) throw new StorageError('ResourceNotFound');
  const resourcePath = end < 0 ? '' : rawPath.slice(end);
  return {
    account,
    found,
    secondary: account !== segment,
    style: 'path',
    host,
    rawPath,
    resourcePath,
    rawQuery,
  };
}

const slash = 0x2f;
const beyondAscii = /[\u0080-\uffff]/;

/** Empty if no dot follows it: such a name is a machine's. */
function firstLabel(host: string): string {
  const dot = host.indexOf('.');
  return dot <= 0 ? '' : host.slice(0, dot).toLowerCase();
}

function withoutSuffix(name: string): string {
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

function withoutPort(host: string): string {
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
