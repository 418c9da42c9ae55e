// REST and SMB on the same file service. When the test is over nobody may have anything open.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AclMode } from '#src/smb/server.js';
import type { Given, State } from './given-file.js';
import { givenFile } from './rest-requests.js';
import { startSmb, type TestServer } from './smb-server.js';

export interface SideBySide extends Given {
  readonly smb: TestServer;
}

export async function sideBySide(
  t: TestContext,
  {
    signed = false,
    aclMode = 'superuser',
    ...state
  }: State & { readonly signed?: boolean; readonly aclMode?: AclMode } = {},
): Promise<SideBySide> {
  const files = await givenFile(t, state);
  const { accounts } = files.service;
  const policyOf = (account: string) => accounts.serviceSettings(account, 'file').smb;
  const smb = await startSmb({ settings: { signingRequired: signed, aclMode }, policyOf }, files.service);
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.bugs, []);
    const { files: open, handles, locks, caches } = smb.opens.counters;
    assert.deepEqual({ open, handles, locks, caches }, { open: 0, handles: 0, locks: 0, caches: 0 });
  });
  return { ...files, smb };
}
