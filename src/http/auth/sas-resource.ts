// What a service or user delegation SAS is for: which part of a request's path it signs, and the letters it
// may have there.
//
//   sr    signs                                  since
//   c     the container
//   b     the blob
//   bs    the blob and the snapshot asked for    2018-11-09
//   bv    the blob and the version asked for     2018-11-09
//   d     the first `sdd` segments of the blob   2020-02-10
//   s     the share
//   f     the file
//   -     the queue (q is written by some clients); the table that `tn` names
//
// The years matter: before them `sr` was not part of what is signed, and a SAS for the blob `a` must not
// pass for one of the directory `a`.

import type { Call, ServiceName, Version } from '../call.js';

export interface SasResource {
  /** As it is signed: `/blob/account/container/name`. */
  readonly path: string;
  readonly kind: 'container' | 'blob' | 'directory' | 'queue' | 'table' | 'share' | 'file';
  /** Whose stored policies apply: the container, queue, table or share. */
  readonly container: string;
  /** The snapshot or version it is for. */
  readonly time: string;
}

export type ResourceRequest = Pick<Call, 'service' | 'account' | 'container' | 'name' | 'query'>;

/** Nothing if the request addresses no such resource, or the version knows none. */
export function resourceOf(request: ResourceRequest, version: Version): SasResource | undefined {
  const { service, account, container, name, query } = request;
  const sr = query.get('sr') ?? '';
  const root = `${version >= '2015-02-21' ? `/${service}` : ''}/${account}/`;

  if (service === 'table') {
    const table = (query.get('tn') ?? '').toLowerCase();
    // A transaction names its table only inside.
    if (table === '' || (container !== '' && container.toLowerCase() !== table)) return undefined;
    return { kind: 'table', path: root + table, container: table, time: '' };
  }
  if (container === '') return undefined;
  if (service === 'queue') {
    return sr === '' || sr === 'q'
      ? { kind: 'queue', path: root + container, container, time: '' }
      : undefined;
  }
  const whole = service === 'blob' ? 'c' : 's';
  if (sr === whole) {
    return { kind: service === 'blob' ? 'container' : 'share', path: root + container, container, time: '' };
  }
  if (name === '') return undefined;
  return inside(service, sr, version, query, `${root}${container}/`, container, name);
}

function inside(
  service: ServiceName,
  sr: string,
  version: Version,
  query: ReadonlyMap<string, string>,
  root: string,
  container: string,
  name: string,
): SasResource | undefined {
  const path = root + name;
  if (service === 'file') return sr === 'f' ? { kind: 'file', path, container, time: '' } : undefined;
  if (sr === 'b') return { kind: 'blob', path, container, time: '' };
  if (sr === 'd') {
    const directory = version >= '2020-02-10' ? firstSegments(name, query.get('sdd')) : undefined;
    return directory === undefined
      ? undefined
      : { kind: 'directory', path: root + directory, container, time: '' };
  }
  const time = sr === 'bs' ? query.get('snapshot') : sr === 'bv' ? query.get('versionid') : undefined;
  return time && version >= '2018-11-09' ? { kind: 'blob', path, container, time } : undefined;
}

/** The directory at that depth which the name lies in; nothing if it is not that deep. */
function firstSegments(name: string, depth: string | undefined): string | undefined {
  if (depth === undefined || !/^[1-9]\d{0,2}$/.test(depth)) return undefined;
  const segments = name.split('/', Number(depth) + 1);
  return segments.length < Number(depth) ? undefined : segments.slice(0, Number(depth)).join('/');
}
