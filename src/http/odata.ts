// What a client wants to see of OData: the metadata level of a table's JSON, and whether what it made is sent back.

import type { Call } from './call.js';

export type MetadataLevel = 'nometadata' | 'minimalmetadata' | 'fullmetadata';

export function jsonType(level: MetadataLevel): string {
  return `application/json;odata=${level};streaming=true;charset=utf-8`;
}

/** The level a request asks for by `$format` or, without it, by `Accept`; nothing if it names none. */
export function askedLevel(call: Pick<Call, 'query' | 'headers'>): MetadataLevel | undefined {
  const text = call.query.get('$format') ?? call.headers.accept;
  const level = text === undefined ? undefined : /odata\s*=\s*(\w+)/i.exec(text)?.[1]?.toLowerCase();
  if (level === 'nometadata' || level === 'minimalmetadata' || level === 'fullmetadata') return level;
  return undefined;
}

/** An error is written at the level that was asked for, whatever else was wrong with the request. */
export function errorLevel(call: Pick<Call, 'query' | 'headers'> | undefined): MetadataLevel {
  return (call === undefined ? undefined : askedLevel(call)) ?? 'minimalmetadata';
}

export type Preference = 'return-content' | 'return-no-content' | undefined;

/** `Prefer`, as it is then told to be applied. */
export function preference(prefer: string | string[] | undefined): Preference {
  const text = Array.isArray(prefer) ? prefer[0] : prefer;
  const wish = text?.trim().toLowerCase();
  return wish === 'return-content' || wish === 'return-no-content' ? wish : undefined;
}
