// A static website: the pages in $web, for anybody, where the account's service properties say so.
//
//   a path that ends in a slash, or is empty    the index document there
//   a page that is not there                    the document for every path if there is one; else the error
//                                               document with 404; else 404
//
// Who signs a request means the blob, not the page.

import type { BlobService } from '../../services/blob/service.js';
import { StorageError } from '../../services/common/errors.js';
import { webContainer } from '../../services/common/names.js';
import type { StaticWebsite } from '../../services/common/service-settings.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';

/** The website that a request is for; nothing if it is for a blob. */
export function websiteOf(
  call: Call,
  { accounts }: BlobService,
  identity: Identity,
): StaticWebsite | undefined {
  if (call.container !== webContainer || identity.kind !== 'anonymous') return undefined;
  const { staticWebsite } = accounts.serviceSettings(call.account, 'blob');
  return staticWebsite.enabled ? staticWebsite : undefined;
}

export async function servePage(
  call: Call,
  { indexDocument, defaultIndexDocumentPath, errorDocument404Path }: StaticWebsite,
  answer: (name: string) => Promise<Answer>,
): Promise<Answer> {
  const isFolder = call.name === '' || call.name.endsWith('/');
  try {
    return await answer(isFolder && indexDocument !== undefined ? call.name + indexDocument : call.name);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'BlobNotFound') throw error;
    if (defaultIndexDocumentPath !== undefined) return answer(defaultIndexDocumentPath);
    if (errorDocument404Path === undefined) throw error;
    return { ...(await answer(errorDocument404Path)), status: 404 };
  }
}
