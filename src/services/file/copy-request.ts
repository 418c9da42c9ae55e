// What a copy is asked to do: which properties it takes from its source, and which the request gives.

import type { Metadata } from '../common/metadata.js';
import { attribute } from './access.js';
import type { PermissionWish, SmbWishes } from './smb-properties.js';

export interface CopyRequest {
  readonly id: string;
  /** The source as the client named it. */
  readonly url: string;
  /** Nothing: the source's. */
  readonly metadata: Metadata | undefined;
  readonly smb: SmbWishes;
  readonly fromSource: {
    readonly attributes: boolean;
    readonly created: boolean;
    readonly changed: boolean;
    readonly permission: boolean;
  };
  readonly setArchive: boolean;
  readonly ignoreReadOnly: boolean;
  readonly leaseId: string | undefined;
  readonly mayOverwrite: boolean;
}

/** What the source does not tell has its default. */
export function wishesOf(
  { smb, fromSource, setArchive }: CopyRequest,
  source: Pick<SmbWishes, 'attributes' | 'created' | 'written' | 'changed'>,
  permission: PermissionWish,
): SmbWishes {
  const archive = setArchive ? attribute.archive : 0;
  const given = fromSource.attributes ? source.attributes : smb.attributes;
  return {
    attributes: given === undefined ? undefined : given | archive,
    verbatim: true,
    created: fromSource.created ? source.created : smb.created,
    written: smb.written ?? source.written,
    changed: fromSource.changed ? source.changed : smb.changed,
    permission,
  };
}
