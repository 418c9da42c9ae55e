// What a source tells of itself in the headers of its answer.

import { checkMetadata, type Metadata } from '../services/common/metadata.js';
import type { FetchedAnswer } from '../services/common/sources.js';

export interface ToldHead {
  /** Nothing if it does not say. */
  readonly length: number | undefined;
  readonly etag: string | undefined;
  readonly metadata: Metadata;
  /** A header by its name in lower case; an empty one is none. */
  text(name: string): string | undefined;
}

export function toldHead(headers: FetchedAnswer['headers']): ToldHead {
  const text = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const length = text('content-length');
  return {
    length: length !== undefined && /^\d{1,16}$/.test(length) ? Number(length) : undefined,
    etag: text('etag'),
    metadata: metadataIn(headers),
    text,
  };
}

/** What a copy may carry; a source that has anything else is copied without it. */
function metadataIn(headers: FetchedAnswer['headers']): Metadata {
  const metadata = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-ms-meta-'))
    .map(([name, value]): [string, string] => [name.slice('x-ms-meta-'.length), String(value)]);
  try {
    checkMetadata(metadata);
    return metadata;
  } catch {
    return [];
  }
}
