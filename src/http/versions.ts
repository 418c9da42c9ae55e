// Service versions: which one a request is served as.
//
// Any well-formed version is served: one we know, one between those we know, and one newer than all of
// them as the newest known. So a client released after this server keeps working.

import { invalidHeader, invalidParameter } from '../services/common/errors.js';
import type { ServiceName, Version } from './call.js';

/** The versions the reference names, oldest first. */
// biome-ignore format: a table
export const knownVersions: readonly Version[] = [
  '2008-10-27', '2009-04-14', '2009-07-17', '2009-09-19', '2011-08-18', '2012-02-12', '2013-08-15', '2014-02-14',
  '2015-02-21', '2015-04-05', '2015-07-08', '2015-12-11', '2016-05-31', '2017-04-17', '2017-07-29', '2017-11-09',
  '2018-03-28', '2018-11-09', '2019-02-02', '2019-07-07', '2019-10-10', '2019-12-12', '2020-02-10', '2020-04-08',
  '2020-06-12', '2020-08-04', '2020-10-02', '2020-12-06', '2021-02-12', '2021-04-10', '2021-06-08', '2021-08-06',
  '2021-10-04', '2021-12-02', '2022-11-02', '2023-01-03', '2023-08-03', '2023-11-03', '2024-02-04', '2024-05-04',
  '2024-08-04', '2024-11-04', '2025-01-05', '2025-05-05', '2025-07-05', '2025-11-05', '2026-02-06', '2026-04-06',
  '2026-06-06',
];

export const newestVersion: Version = '2026-06-06';

/** What anonymous requests that name no version are served as. */
const anonymousVersion: Version = '2009-09-19';

const wellFormed = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** The version a text asks for, never above the newest known; nothing if it is malformed. */
export function servedVersion(text: string): Version | undefined {
  if (text === newestVersion) return newestVersion;
  if (!wellFormed.test(text)) return undefined;
  return text > newestVersion ? newestVersion : text;
}

export interface VersionClues {
  readonly service: ServiceName;
  /** `x-ms-version`. */
  readonly header: string | undefined;
  readonly query: ReadonlyMap<string, string>;
  readonly hasAuthorization: boolean;
  /** The account's `DefaultServiceVersion`; blob alone has one. */
  readonly accountDefault: Version | undefined;
}

/**
 * A SAS: `api-version`, else the header, else the `sv` it was signed with. Otherwise the header, else the
 * account's default. A blob request with no version and no credentials is an old browser's.
 */
export function negotiateVersion(clues: VersionClues): Version {
  const { query, header } = clues;
  const isSas = query.has('sig');
  const override = isSas ? query.get('api-version') : undefined;
  if (override !== undefined) {
    const served = servedVersion(override);
    if (served !== undefined) return served;
    throw invalidParameter('api-version', override);
  }
  if (header !== undefined) {
    const served = servedVersion(header);
    if (served !== undefined) return served;
    throw invalidHeader('x-ms-version', header);
  }
  // A malformed `sv` is for authorization to refuse.
  if (isSas) return servedVersion(query.get('sv') ?? '') ?? newestVersion;
  if (clues.accountDefault !== undefined) return clues.accountDefault;
  return clues.service === 'blob' && !clues.hasAuthorization ? anonymousVersion : newestVersion;
}
