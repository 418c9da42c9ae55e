// Which of smbtorture's tests are run, stage by stage of the specification; which of them cannot pass, and which are not
// run at all, with the reasons.

/** Single tests that want what is not offered, with the reason; all others of a suite must pass. */
const cannot: Readonly<Record<string, string>> = {
  'compound.related4': 'needs permissions enforced: passes in that stage',
  'compound.related7': 'needs permissions enforced: passes in that stage',
  'compound.compound-padding': 'uses a named stream',
  'delete-on-close-perms.OVERWRITE_IF Existing': 'needs permissions enforced: passes in that stage',
  'delete-on-close-perms.CREATE_IF Existing': 'needs permissions enforced: passes in that stage',
  'durable-open.alloc-size': 'expects an allocation size of its own choice',
  'durable-v2-open.app-instance': 'asks for a handle by the application that has it',
  'fileid.fileid': 'uses a named stream',
  'fileid.fileid-dir': 'uses a named stream',
  'getinfo.qfile_buffercheck': 'uses extended attributes',
  'getinfo.normalized': 'uses a named stream',
  'getinfo.getinfo_access': 'uses short names',
  'lease.request': 'uses a named stream',
  'lock.replay_broken_windows': 'needs resilient handles',
  'notify.mask': 'watches kinds of change that there are not',
  'oplock.batch22b': 'needs a control that only the reference server has',
  'oplock.batch26': 'uses a named stream',
  'oplock.stream1': 'uses a named stream',
  'replay.replay-dhv2-oplock2': 'expects the oplock to be forgotten',
  'session.reauth2': 'becomes anonymous',
  'session.reauth3': 'becomes anonymous',
  'timestamps.test_close_not_attrib': 'uses a slash in a name',
  'timestamps.delayed-write-vs-seteof': 'expects write times two seconds late',
  'timestamps.delayed-write-vs-flush': 'expects write times two seconds late',
  'timestamps.delayed-write-vs-setbasic': 'expects write times two seconds late',
  'timestamps.delayed-2write': 'expects write times two seconds late',
};

/** The stage that runs on a server that enforces permissions, and what cannot pass there. */
export const enforcing = '10 permissions';
const cannotEnforcing: Readonly<Record<string, string>> = {
  'acls.ACCESSBASED': 'needs a share that hides what cannot be read',
  'session.reauth4': 'becomes anonymous',
};

export function reasonsOf(stage: string): Readonly<Record<string, string>> {
  return stage === enforcing ? cannotEnforcing : cannot;
}

const within = (suite: string, names: readonly string[]) => names.map((name) => `${suite}.${name}`);

// biome-ignore format: a table
export const stages: Readonly<Record<string, readonly string[]>> = {
  '1 connect': ['connect', 'tcon', 'session-id'],
  '2 files': [
    'rw.rw1', 'rw.rw2', 'read', 'mkdir', 'openattr', 'winattr', 'fileid',
    ...within('dir', ['find', 'fixed', 'many', 'modify', 'sorted', 'large-files']),
    ...within('getinfo', ['qsec_buffercheck', 'granted', 'qfile_buffercheck', 'normalized', 'getinfo_access']),
    ...within('create', ['multi', 'delete', 'leading-slash', 'mkdir-dup', 'impersonation', 'dir-alloc-size',
      'dosattr_tmp_dir']),
  ],
  '3 protection': within('session', ['signing-hmac-sha-256', 'signing-aes-128-cmac', 'signing-aes-128-gmac',
    'encryption-aes-128-ccm', 'encryption-aes-128-gcm', 'encryption-aes-256-ccm', 'encryption-aes-256-gcm',
    'ntlmssp_bug14932']),
  '4 chains': [
    'credits', 'compound', 'compound_find', 'compound_async',
    ...within('session', ['reconnect1', 'reconnect2', 'reauth1', 'reauth2', 'reauth3', 'reauth6', 'two_logoff',
      'bind_negative_smb202', 'bind_negative_smb210s', 'bind_negative_smb210d']),
  ],
  '5 sharing': [
    'lock', 'sharemode', 'deny', 'delete-on-close-perms', 'create.brlocked', 'maxfid', 'secleak',
    ...within('rename', ['simple', 'simple_nodelete', 'no_sharing', 'share_delete_and_delete_access',
      'no_share_delete_but_delete_access', 'share_delete_no_delete_access', 'no_share_delete_no_delete_access',
      'msword', 'rename_dir_openfile', 'rename_dir_bench', 'close-full-information']),
  ],
  '7 oplocks': within('oplock', ['batch22a', 'exclusive1', 'exclusive2', 'exclusive3', 'exclusive4', 'exclusive5',
    'exclusive6', 'exclusive9', 'batch1', 'batch2', 'batch3', 'batch4', 'batch5', 'batch6', 'batch7', 'batch8', 'batch9',
    'batch9a', 'batch10', 'batch11', 'batch12', 'batch13', 'batch14', 'batch15', 'batch16', 'batch19', 'batch20',
    'batch21', 'batch22b', 'batch23', 'batch24', 'batch25', 'batch26', 'stream1', 'doc', 'brl1', 'brl2', 'brl3',
    'levelii500', 'levelii501', 'levelii502', 'statopen1']),
  '7 leases': within('lease', ['request', 'break', 'oplock', 'upgrade', 'upgrade2', 'upgrade3', 'break_twice',
    'nobreakself', 'statopen', 'statopen2', 'statopen4', 'multibreak', 'breaking1', 'breaking2', 'breaking3',
    'v2_breaking3', 'breaking4', 'breaking5', 'breaking6', 'lock1', 'complex1', 'v2_epoch1', 'v2_epoch2',
    'v2_epoch3', 'v2_complex1', 'v2_complex2', 'v2_rename', 'timeout', 'timeout-disconnect', 'rename_wait',
    'duplicate_create', 'duplicate_open', 'v1_bug15148', 'v2_bug15148']),
  '8 notify': ['notify'],
  '9 controls': [
    ...within('ioctl', ['req_resume_key', 'req_two_resume_keys', 'compress_notsup_get', 'compress_notsup_set']),
    ...within('ioctl.copy_chunk', ['simple', 'multi', 'tiny', 'overwrite', 'append', 'limits', 'src_lock', 'dest_lock',
      'bad_key', 'src_is_dest', 'src_is_dest_overlap', 'bad_access', 'write_access', 'src_exceed', 'src_exceed_multi',
      'sparse_dest', 'max_output_sz', 'zero_length', 'across_shares', 'across_shares2', 'across_shares3',
    ]).map((name) => name.replace('copy_chunk.', 'copy_chunk_')),
  ],
  '10 times, rights': ['timestamps', 'sdread', 'create_no_streams'],
  [enforcing]: [
    'acls', 'delete-on-close-perms', 'session.reauth4',
    ...within('create', ['aclfile', 'acldir', 'nulldacl']), ...within('compound', ['related4', 'related7']),
  ],
  '10 durable': [
    'durable-open', 'durable-v2-open', 'durable-v2-delay',
    ...within('replay', ['replay-regular', 'replay-commands', 'replay-dhv2-oplock1', 'replay-dhv2-oplock2',
      'replay-dhv2-oplock3', 'replay-dhv2-oplock-lease', 'replay-dhv2-lease1', 'replay-dhv2-lease2',
      'replay-dhv2-lease3', 'replay-dhv2-lease-oplock', 'replay7']),
  ],
};

/** These begin first: they wait for time-outs, or do the most. */
export const slow: readonly string[] = ['oplock', 'lease', 'dir', 'compound_find', 'credits'];

/** Minutes each. */
export const long: readonly string[] = ['maxfid'];

/** Suites that are not run, with the reason. */
export const inapplicable: Readonly<Record<string, string>> = {
  'acls_non_canonical, aio_delay, change_notify_disabled, samba3misc, kernel-oplocks':
    'need a setting of the reference server',
  'bench, scan, hold-oplock, hold-sharemode, check-sharemode':
    'tools, not tests; two of them hold files for smb-rest.test.ts',
  'ea, getinfo.complex': 'extended attributes',
  'getinfo.fsinfo, getinfo.qfs_buffercheck, create.quota-fake-file': 'quotas of users',
  'ioctl.dup_extents*, ioctl.sparse*, ioctl.trim*, ioctl.compress*': 'controls that are not offered',
  'multichannel, session.bind*, ioctl.network_interface_info, the rest of replay':
    'several connections for a session',
  'session.expire*': 'Kerberos',
  streams: 'named streams',
  twrp: 'a snapshot that is made by hand first',
};
