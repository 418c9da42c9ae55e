// What a source that is no file of this server tells of itself, as a file has it.

import { StorageError } from '../../services/common/errors.js';
import type { FetchedAnswer } from '../../services/common/sources.js';
import type { ForeignSource } from '../../services/file/foreign-copies.js';
import { largestFile } from '../../services/file/model.js';
import { toldHead } from '../told-head.js';
import { parseAttributes, parseTime } from './smb-headers.js';

export function foreignHead(
  headers: FetchedAnswer['headers'],
): Pick<ForeignSource, 'length' | 'etag' | 'metadata' | 'http' | 'smb'> {
  const { length, etag, metadata, text } = toldHead(headers);
  if (length === undefined) {
    const message = 'The source does not tell its length.';
    throw new StorageError('CannotVerifyCopySource', { status: 400, message });
  }
  if (length > largestFile) throw new StorageError('OutOfRangeInput');
  const time = (name: string) => parseTime(text(`x-ms-file-${name}-time`) ?? '');
  return {
    ...{ length, etag, metadata },
    http: {
      contentType: text('content-type'),
      contentEncoding: text('content-encoding'),
      contentLanguage: text('content-language'),
      contentMd5: md5In(text('content-md5')),
      contentDisposition: text('content-disposition'),
      cacheControl: text('cache-control'),
    },
    smb: {
      attributes: parseAttributes(text('x-ms-file-attributes') ?? ''),
      created: time('creation'),
      written: time('last-write'),
      changed: time('change'),
    },
  };
}

function md5In(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9+/]{22}==$/.test(text) ? text : undefined;
}
