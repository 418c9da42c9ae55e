// Leasing a file: for ever or not at all. Changes neither ETag nor Last-Modified.

import { orThrow } from '../common/errors.js';
import { type LeaseAction, step } from '../common/lease.js';
import { guardFile, guardPending } from './guards.js';
import type { FileEntry } from './model.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { findTarget, requireFile, type Target } from './targets.js';
import { putEntry } from './tree.js';

export function leaseFile(service: FileService, target: Target, action: LeaseAction): Promise<FileEntry> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireFile(found);
    guardPending(service, found.view, entry.id);
    const acquires = action.action === 'acquire';
    const lease = orThrow(step(entry.file.lease, action, tx.now, 'file'), { resource: 'file' });
    await guardFile(service, tx, found.view, entry, acquires ? 'acquireLease' : 'otherLease');
    const leased = { ...entry, file: { ...entry.file, lease } };
    return putEntry(store, tx, found.view.share, entry, leased);
  });
}
