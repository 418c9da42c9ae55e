// Conditional headers: parsed once from a request, judged in the transaction that reads or writes.
//
// A read takes any combination (since 2013-08-15) and asks
//     If-Match  and  If-Unmodified-Since  and  (If-None-Match or If-Modified-Since)
// where a header that is absent is no part of it. The first two fail with 412, the last pair with 304.
//
// A write, and an older read, takes one header. Two pairs are understood as their first: If-Match with
// If-Unmodified-Since, If-None-Match with If-Modified-Since. Anything else is 400, and so is a second ETag in
// one header. A write fails with 412; If-None-Match: * on a write that creates, with 409 BlobAlreadyExists.
//
// So after parsing the one expression above serves all. Tags are judged after it, with the same codes.
// Who fails is told by the kind of operation:
//
//   read        ConditionNotMet 412 or 304
//   write       ConditionNotMet 412             changes what exists: absent is 404 before this is asked
//   create      ConditionNotMet 412, or 409     makes or replaces: If-Match fails when absent, others pass
//   copy        TargetConditionNotMet 412, or 409         as create
//   copySource  SourceConditionNotMet 412                 as read; Copy Blob, Copy and Put Blob From URL
//   source      CannotVerifyCopySource 412 or 304         as read; Put Block, Page, Append From URL
//
// Dates are compared in whole seconds, as Last-Modified is told.

import { assert } from '../../base/assert.js';
import type { Stamp } from '../../base/stamps.js';
import { parseHttpDate } from '../../base/times.js';
import { type ErrorCode, errors, invalidHeader, StorageError } from './errors.js';
import { bareEtag, lastModifiedMs, withoutQuotes } from './etag.js';
import { matchesTags, parseTagCondition, type TagFilter, type Tags } from './tags-filter.js';

export type ConditionKind = 'read' | 'write' | 'create' | 'copy' | 'copySource' | 'source';

/** The headers as they came; those of a source without `x-ms-source-`. */
export type ConditionHeaders = Readonly<{
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  ifModifiedSince?: string | undefined;
  ifUnmodifiedSince?: string | undefined;
  ifTags?: string | undefined;
}>;

/** Without quotes; `*` stands for any at all. */
export type Etags = readonly string[];

export type Conditions = Readonly<{
  match: Etags | undefined;
  noneMatch: Etags | undefined;
  modifiedSince: number | undefined;
  unmodifiedSince: number | undefined;
  tags: TagFilter | undefined;
}>;

export const noConditions: Conditions = {
  match: undefined,
  noneMatch: undefined,
  modifiedSince: undefined,
  unmodifiedSince: undefined,
  tags: undefined,
};

const newest = '9999-12-31';

/**
 * `accepts`: of If-(M)atch, If-(N)one-Match, (I)f-Modified-Since, If-(U)nmodified-Since and (T)ags those the
 * operation takes. Another one is ignored by a read; a write refuses it, because a guard that is not
 * kept loses updates.
 */
export function parseConditions(
  headers: ConditionHeaders,
  kind: ConditionKind,
  accepts: string,
  version: string = newest,
): Conditions {
  const sent = presentHeaders(headers);
  if (sent === '') return noConditions;
  const unknown = [...sent].filter((letter) => !accepts.includes(letter));
  if (unknown.length > 0 && isWrite(kind)) throw new StorageError('ConditionHeadersNotSupported');
  const take = (letter: string, text: string | undefined) =>
    text !== undefined && accepts.includes(letter) ? text : undefined;

  const prefix = isSource(kind) ? 'x-ms-source-' : '';
  const tags = take('T', headers.ifTags);
  const parsed: Conditions = {
    match: parseEtags(`${prefix}if-match`, take('M', headers.ifMatch)),
    noneMatch: parseEtags(`${prefix}if-none-match`, take('N', headers.ifNoneMatch)),
    modifiedSince: parseDate(`${prefix}if-modified-since`, take('I', headers.ifModifiedSince), kind),
    unmodifiedSince: parseDate(`${prefix}if-unmodified-since`, take('U', headers.ifUnmodifiedSince), kind),
    tags: tags === undefined ? undefined : parseTagCondition(tagsHeader(kind), tags),
  };
  const many = !isWrite(kind) && version >= '2013-08-15';
  const conditions = withoutReadStar(parsed, kind, version);
  return many ? conditions : single(conditions);
}

function presentHeaders(headers: ConditionHeaders): string {
  return (
    (headers.ifMatch === undefined ? '' : 'M') +
    (headers.ifNoneMatch === undefined ? '' : 'N') +
    (headers.ifModifiedSince === undefined ? '' : 'I') +
    (headers.ifUnmodifiedSince === undefined ? '' : 'U') +
    (headers.ifTags === undefined ? '' : 'T')
  );
}

function isWrite(kind: ConditionKind): boolean {
  return kind === 'write' || kind === 'create' || kind === 'copy';
}

function isSource(kind: ConditionKind): boolean {
  return kind === 'source' || kind === 'copySource';
}

function tagsHeader(kind: ConditionKind): string {
  return isSource(kind) ? 'x-ms-source-if-tags' : 'x-ms-if-tags';
}

/** `"0x8D1", 0x8D2`: in quotes or not, one or several. */
function parseEtags(header: string, text: string | undefined): Etags | undefined {
  if (text === undefined) return undefined;
  const found = text.includes(',') ? (text.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? []) : [text.trim()];
  if (found.length === 0 || found[0] === '') throw invalidHeader(header, text);
  return found.map((etag) => (etag === '"*"' ? etag : withoutQuotes(etag))); // "*" is an ETag, * is not
}

/** The live service reads on when a date is none. A write is refused, for it was meant to be guarded. */
function parseDate(header: string, text: string | undefined, kind: ConditionKind): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseHttpDate(text.trim());
  if (ms === undefined && (isWrite(kind) || (text.match(/GMT/g) ?? []).length > 1)) {
    throw invalidHeader(header, text);
  }
  return ms;
}

function single(parsed: Conditions): Conditions {
  const { match, noneMatch, modifiedSince, unmodifiedSince } = parsed;
  const positive = match !== undefined || unmodifiedSince !== undefined;
  const negative = noneMatch !== undefined || modifiedSince !== undefined;
  const several = (etags: Etags | undefined) => etags !== undefined && etags.length > 1;
  if ((positive && negative) || several(match) || several(noneMatch)) {
    throw new StorageError('MultipleConditionHeadersNotSupported');
  }
  return {
    ...parsed,
    modifiedSince: noneMatch === undefined ? modifiedSince : undefined,
    unmodifiedSince: match === undefined ? unmodifiedSince : undefined,
  };
}

/** A read that wants what does not exist makes no sense; versions before 2016-05-31 read on. */
function withoutReadStar(conditions: Conditions, kind: ConditionKind, version: string): Conditions {
  if (isWrite(kind) || !conditions.noneMatch?.includes('*')) return conditions;
  if (version >= '2016-05-31') throw new StorageError('UnsatisfiableCondition');
  return { ...conditions, noneMatch: undefined };
}

/** What a condition is judged against: the stamp of the record, and its tags where it can have them. */
export type Conditioned = Readonly<{ stamp: Stamp; tags?: Tags | undefined }>;

export type ConditionFailure = Readonly<{ code: ErrorCode; status: 304 | 409 | 412 }>;

/** Why the conditions do not let the operation through; nothing if they do. */
export function failedCondition(
  conditions: Conditions,
  kind: ConditionKind,
  existing: Conditioned | undefined,
): ConditionFailure | undefined {
  if (conditions === noConditions) return undefined;
  const { match, noneMatch, modifiedSince, unmodifiedSince, tags } = conditions;
  if (existing === undefined) {
    assert(kind === 'create' || kind === 'copy', 'only what is created may be absent');
    return match !== undefined || !tagsHold(tags, []) ? failure(kind, 412) : undefined;
  }
  const modified = lastModifiedMs(existing.stamp);
  if (match !== undefined && !match.includes('*') && !match.includes(bareEtag(existing.stamp))) {
    return failure(kind, 412);
  }
  if (unmodifiedSince !== undefined && modified > unmodifiedSince) return failure(kind, 412);

  const creates = kind === 'create' || kind === 'copy';
  if (creates && noneMatch?.includes('*')) return { code: 'BlobAlreadyExists', status: 409 };
  if (noneMatch !== undefined || modifiedSince !== undefined) {
    // Only a create knows the star: elsewhere it is an ETag that nothing has.
    const other = noneMatch !== undefined && !noneMatch.includes(bareEtag(existing.stamp));
    const newer = modifiedSince !== undefined && modified > modifiedSince;
    if (!other && !newer) return failure(kind, 304);
  }
  return tagsHold(tags, existing.tags ?? []) ? undefined : failure(kind, 412);
}

/** In an operation: throws where `failedCondition` tells of one. */
export function checkConditions(
  conditions: Conditions,
  kind: ConditionKind,
  existing: Conditioned | undefined,
): void {
  const failed = failedCondition(conditions, kind, existing);
  if (failed === undefined) return;
  const { code, status } = failed;
  throw new StorageError(code, {
    status,
    message: code === 'CannotVerifyCopySource' ? errors.ConditionNotMet : undefined,
  });
}

function tagsHold(filter: TagFilter | undefined, tags: Tags): boolean {
  return filter === undefined || matchesTags(filter, tags);
}

const codes = {
  read: 'ConditionNotMet',
  write: 'ConditionNotMet',
  create: 'ConditionNotMet',
  copy: 'TargetConditionNotMet',
  copySource: 'SourceConditionNotMet',
  source: 'CannotVerifyCopySource',
} as const satisfies Record<ConditionKind, ErrorCode>;

function failure(kind: ConditionKind, asRead: 304 | 412): ConditionFailure {
  return { code: codes[kind], status: kind === 'read' || kind === 'source' ? asRead : 412 };
}
