// What another server tells of a source in its headers.

import type { BlobType, ContentHeaders } from '../../services/blob/model.js';
import type { FetchedAnswer } from '../../services/blob/service.js';
import { checkMetadata, type Metadata } from '../../services/common/metadata.js';

export interface ForeignHead {
  /** Nothing if it does not say. */
  readonly length: number | undefined;
  readonly headers: ContentHeaders;
  readonly metadata: Metadata;
  readonly etag: string | undefined;
  /** Of another blob service; else a block blob is made of it. */
  readonly type: BlobType;
}

const types: readonly BlobType[] = ['BlockBlob', 'AppendBlob', 'PageBlob'];

export function foreignHead(headers: FetchedAnswer['headers']): ForeignHead {
  const text = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const length = text('content-length');
  const content: Record<string, string | Uint8Array | undefined> = {
    type: text('content-type') ?? 'application/octet-stream',
    encoding: text('content-encoding'),
    language: text('content-language'),
    disposition: text('content-disposition'),
    cacheControl: text('cache-control'),
  };
  for (const name of Object.keys(content)) if (content[name] === undefined) delete content[name];
  return {
    length: length !== undefined && /^\d{1,16}$/.test(length) ? Number(length) : undefined,
    headers: content as ContentHeaders,
    metadata: metadataIn(headers),
    etag: text('etag'),
    type: types.find((type) => type === text('x-ms-blob-type')) ?? 'BlockBlob',
  };
}

/** What a blob may carry; a source that has anything else is copied without it. */
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
