// Service versions: which one a request is served as.
//
// Any well-formed version is served: one we know, one between those we know, and one newer than all of
// them as the newest known. So a client released after this server keeps working.

import { invalidHeader, invalidParameter } from '../services/common/errors.js';
import type { ServiceName, Version } from './call.js';

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
