// Share modes: which opens of one file can exist side by side, whoever asks. A REST request counts as an
// open that shares everything and lasts for the request; a REST lease as one that lasts and shares Read.
//
//   an open reads (READ_DATA, EXECUTE), writes (WRITE_DATA, APPEND_DATA), deletes (DELETE), or does none
//   of them; one that does none (attributes, permissions) neither hinders nor is hindered
//   two opens conflict if one does what the other does not share
//
// And what closing a handle means for a file that is to be deleted.

import { access, share } from './access.js';

export interface Sharing {
  readonly access: number;
  readonly share: number;
}

// biome-ignore format: a table
const shared = [
  // needs the other to share   what asks for it
  [share.read,   access.readData | access.execute],
  [share.write,  access.writeData | access.appendData],
  [share.delete, access.delete],
] as const;

/** Whether an open uses the contents or the name of the file at all. */
export function usesFile(mask: number): boolean {
  return shared.some(([, rights]) => (mask & rights) !== 0);
}

const ofAttributes = access.readAttributes | access.writeAttributes | access.synchronize;

/** Whether an open only looks at or sets attributes: it takes no oplock and breaks none. */
export function attributesOnly(mask: number): boolean {
  return (mask & ~ofAttributes) === 0;
}

/** Whether it may read permissions besides: this breaks oplocks and no leases. */
export function readsPermissionsOnly(mask: number): boolean {
  return (mask & ~(ofAttributes | access.readControl)) === 0;
}

export function sharingConflict(one: Sharing, other: Sharing): boolean {
  if (!usesFile(one.access) || !usesFile(other.access)) return false;
  return shared.some(
    ([needed, rights]) =>
      ((one.access & rights) !== 0 && !(other.share & needed)) ||
      ((other.access & rights) !== 0 && !(one.share & needed)),
  );
}

const reads = access.readData;
const writes = access.writeData;
const deletes = access.delete;

/** The opens that REST operations stand for; one that is not here never meets a sharing violation. */
// biome-ignore format: a table
export const restSharing = {
  getFile:         { access: reads,                     share: share.all },
  listRanges:      { access: reads,                     share: share.all },
  copySource:      { access: reads,                     share: share.all },
  putRange:        { access: writes,                    share: share.all },
  setProperties:   { access: writes,                    share: share.all },
  setMetadata:     { access: writes,                    share: share.all },
  createOverwrite: { access: writes | deletes,          share: share.all },
  copyOnto:        { access: writes | deletes,          share: share.all },
  renameSource:    { access: deletes,                   share: share.all },
  deleteFile:      { access: deletes,                   share: share.all },
  acquireLease:    { access: reads | writes | deletes,  share: share.read },
} as const satisfies Record<string, Sharing>;

export type RestUse = keyof typeof restSharing;

/** Deleting a file over REST needs that nobody has it open at all, not even for its attributes. */
export function restConflict(use: RestUse, open: Sharing): boolean {
  return use === 'deleteFile' || sharingConflict(restSharing[use], open);
}

/** Whether a leased file refuses an open: the lease is the right to write and delete. */
export function leaseRefusesOpen(leased: boolean, mask: number, overwrites: boolean): boolean {
  const changing = access.writeData | access.appendData | access.delete;
  return leased && (overwrites || (mask & changing) !== 0);
}

/** What is left of a file in the table when one of its handles closes. */
export type AfterClose = 'open' | 'marked' | 'remove' | 'forget';

/**
 * A handle opened to delete on close marks the file when it goes; a marked file is removed with its last
 * handle. Closed by force, a handle takes its delete-on-close with it, while a mark stays.
 */
export function afterClose(file: {
  deletePending: boolean;
  handleDeletes: boolean;
  handlesLeft: number;
  forced: boolean;
}): AfterClose {
  const marked = file.deletePending || (file.handleDeletes && !file.forced);
  if (file.handlesLeft > 0) return marked ? 'marked' : 'open';
  return marked ? 'remove' : 'forget';
}
