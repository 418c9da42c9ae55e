// What a source that is no blob of this server tells of itself, as a blob has it.

import type { BlobType, ContentHeaders } from '../../services/blob/model.js';
import type { FetchedAnswer } from '../../services/common/sources.js';
import { type ToldHead, toldHead } from '../told-head.js';

export interface ForeignHead extends Pick<ToldHead, 'length' | 'etag' | 'metadata'> {
  readonly headers: ContentHeaders;
  /** Of another blob service; else a block blob is made of it. */
  readonly type: BlobType;
}

const types: readonly BlobType[] = ['BlockBlob', 'AppendBlob', 'PageBlob'];

export function foreignHead(headers: FetchedAnswer['headers']): ForeignHead {
  const { length, etag, metadata, text } = toldHead(headers);
  const content: Record<string, string | Uint8Array | undefined> = {
    type: text('content-type') ?? 'application/octet-stream',
    encoding: text('content-encoding'),
    language: text('content-language'),
    disposition: text('content-disposition'),
    cacheControl: text('cache-control'),
  };
  for (const name of Object.keys(content)) if (content[name] === undefined) delete content[name];
  return {
    ...{ length, etag, metadata },
    headers: content as ContentHeaders,
    type: types.find((type) => type === text('x-ms-blob-type')) ?? 'BlockBlob',
  };
}
