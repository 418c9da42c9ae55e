// What a path names, as each service reads it: the form that operation tables use, the container (or
// queue, table, share) and what is named inside.
//
//   blob    /                               /{container}                        /{container}/{blob}
//   queue   /   /{queue}                    /{queue}/messages                   /{queue}/messages/{messageid}
//   table   /   /Tables  /Tables({table})   /{table}   /{table}({keys})         /$batch
//   file    /   /{share}                    /{share}/{path}
//
// A blob's name is all that follows the container's slash, slashes included. One segment without
// `restype=container` is a blob in `$root`. The root directory of a share (`restype=directory`) has the
// form of a path and an empty name.

import { StorageError } from '../services/common/errors.js';
import { webContainer } from '../services/common/names.js';
import type { ServiceName } from './call.js';
import { decodePath } from './uri.js';

export interface Place {
  readonly resource: string;
  readonly container: string;
  readonly name: string;
}

/** `rawPath` as sent, without the account: empty, or it begins with a slash. */
export function placeOf(service: ServiceName, rawPath: string, query: ReadonlyMap<string, string>): Place {
  if (rawPath === '' || rawPath === '/') return serviceRoot;
  const slash = rawPath.indexOf('/', 1);
  const first = slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash);
  /** Nothing if no slash follows the first segment. */
  const rest = slash < 0 ? undefined : rawPath.slice(slash + 1);
  return readers[service](first, rest, query);
}

type Reader = (first: string, rest: string | undefined, query: ReadonlyMap<string, string>) => Place;

const serviceRoot: Place = { resource: '/', container: '', name: '' };

const readers: Record<ServiceName, Reader> = { blob, queue, table, file };

function blob(first: string, rest: string | undefined, query: ReadonlyMap<string, string>): Place {
  const container = decodePath(first);
  if (rest) return { resource: '/{container}/{blob}', container, name: decodePath(rest) };
  // The root of a website is a page.
  if (rest === '' && container === webContainer && query.get('restype') === undefined) {
    return { resource: '/{container}/{blob}', container, name: '' };
  }
  // Only these address a container; a slash behind it changes nothing.
  const restype = query.get('restype')?.toLowerCase();
  if (restype === 'container' || restype === 'account') {
    return { resource: '/{container}', container, name: '' };
  }
  if (rest !== undefined || container === '') throw new StorageError('InvalidUri');
  return { resource: '/{container}/{blob}', container: '$root', name: container };
}

function queue(first: string, rest: string | undefined): Place {
  const container = decodePath(first);
  if (!rest) return { resource: '/{queue}', container, name: '' };
  const [word, rawId, ...more] = rest.split('/');
  if (word?.toLowerCase() !== 'messages' || more.length > 0) throw new StorageError('InvalidUri');
  if (!rawId) return { resource: '/{queue}/messages', container, name: '' };
  return { resource: '/{queue}/messages/{messageid}', container, name: decodePath(rawId) };
}

const parenthesised = /^([^(]*)\((.*)\)$/s;
const quotedTable = /^'((?:[^']|'')*)'$/;

function table(first: string, rest: string | undefined): Place {
  // Keys cannot hold a slash; one that is sent as such makes no other segment.
  const segment = decodePath(rest ? `${first}/${rest}` : first);
  if (segment.toLowerCase() === '$batch') return { resource: '/$batch', container: '', name: '' };

  const match = parenthesised.exec(segment);
  const container = match?.[1] ?? segment;
  const keys = match?.[2]?.trim() ?? '';
  if (container.toLowerCase() !== 'tables') {
    return { resource: keys === '' ? '/{table}' : '/{table}({keys})', container, name: keys };
  }
  if (keys === '') return { resource: '/Tables', container: '', name: '' };
  const name = quotedTable.exec(keys)?.[1];
  if (name === undefined) throw new StorageError('InvalidInput');
  return { resource: '/Tables({table})', container: name.replaceAll("''", "'"), name: '' };
}

function file(first: string, rest: string | undefined, query: ReadonlyMap<string, string>): Place {
  const container = decodePath(first);
  const name = filePath(rest ?? '');
  if (name === '' && query.get('restype')?.toLowerCase() !== 'directory') {
    return { resource: '/{share}', container, name };
  }
  return { resource: '/{share}/{path}', container, name };
}

/**
 * Names joined by slashes; empty ones go. A slash may be encoded: the Python library sends the path of a directory so.
 * A name of dots alone would climb, and a backslash would be a slash to SMB.
 */
function filePath(raw: string): string {
  if (raw === '') return '';
  const names = decodePath(raw)
    .split('/')
    .filter((name) => name !== '');
  if (names.some((name) => name === '.' || name === '..')) throw new StorageError('InvalidUri');
  if (names.some((name) => name.includes('\\'))) throw new StorageError('InvalidResourceName');
  return names.join('/');
}
