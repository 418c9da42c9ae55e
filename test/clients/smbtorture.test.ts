// smbtorture, the test suites of the reference server, stage by stage of the specification. They describe what Windows
// does. Runs with `npm run test:clients`; LAZULI_FULL=1 runs the long ones too, LAZULI_TABLE=1 writes what came out
// into docs/smb.md.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../support/program.js';
import { missing } from '../support/programs.js';
import { account, accountKey, givenSmb } from '../support/smb-server.js';

const smbtorture = '/usr/bin/smbtorture';
const skip = missing(smbtorture);
const full = process.env['LAZULI_FULL'] === '1';

/** Single tests that want what is not offered, with the reason; all others of a suite must pass. */
const cannot: Readonly<Record<string, string>> = {
  'compound.related4': 'permissions are not enforced',
  'compound.related7': 'permissions are not enforced',
  'compound.compound-padding': 'uses a named stream',
  'delete-on-close-perms.OVERWRITE_IF Existing': 'permissions are not enforced',
  'delete-on-close-perms.CREATE_IF Existing': 'permissions are not enforced',
  'fileid.fileid': 'uses a named stream',
  'fileid.fileid-dir': 'uses a named stream',
  'getinfo.qfile_buffercheck': 'uses extended attributes',
  'getinfo.normalized': 'uses a named stream',
  'getinfo.getinfo_access': 'uses short names',
  'lease.request': 'uses a named stream',
  'session.reauth2': 'becomes anonymous',
  'session.reauth3': 'becomes anonymous',
  'lock.replay_broken_windows': 'durable handles',
  'lock.replay_smb3_specification_durable': 'durable handles',
  'oplock.batch22b': 'needs a control that only the reference server has',
  'oplock.batch26': 'uses a named stream',
  'oplock.stream1': 'uses a named stream',
  'timestamps.test_close_not_attrib': 'uses a slash in a name',
  'timestamps.delayed-write-vs-seteof': 'expects write times two seconds late',
  'timestamps.delayed-write-vs-flush': 'expects write times two seconds late',
  'timestamps.delayed-write-vs-setbasic': 'expects write times two seconds late',
  'timestamps.delayed-2write': 'expects write times two seconds late',
  'notify.mask': 'counts records more strictly than the reference server',
  'notify.mask-change': 'counts records more strictly than the reference server',
  'notify.rec': 'counts records more strictly than the reference server',
};

// biome-ignore format: a table
const leases = [
  'request', 'break', 'oplock', 'upgrade', 'upgrade2', 'upgrade3', 'break_twice', 'nobreakself', 'statopen', 'statopen2',
  'statopen4', 'multibreak', 'breaking1', 'breaking2', 'breaking3', 'v2_breaking3', 'breaking4', 'breaking5',
  'breaking6', 'lock1', 'complex1', 'v2_epoch1', 'v2_epoch2', 'v2_epoch3', 'v2_complex1', 'v2_complex2',
  'v2_rename', 'timeout', 'timeout-disconnect', 'rename_wait', 'duplicate_create', 'duplicate_open',
  'v1_bug15148', 'v2_bug15148',
];
// biome-ignore format: a table
const copies = [
  'simple', 'multi', 'tiny', 'overwrite', 'append', 'limits', 'src_lock', 'dest_lock', 'bad_key', 'src_is_dest',
  'src_is_dest_overlap', 'bad_access', 'write_access', 'src_exceed', 'src_exceed_multi', 'sparse_dest',
  'max_output_sz', 'zero_length', 'across_shares', 'across_shares2', 'across_shares3',
];

// biome-ignore format: a table
const stages: Readonly<Record<string, readonly string[]>> = {
  '1 connect':        ['connect', 'tcon', 'session-id'],
  '2 files':          ['rw.rw1', 'rw.rw2', 'read', 'mkdir', 'openattr', 'winattr', 'dir.find', 'dir.fixed', 'dir.many',
                       'dir.sorted', 'dir.large-files', 'getinfo.qsec_buffercheck', 'getinfo.granted', 'getinfo.qfile_buffercheck',
                       'getinfo.normalized', 'getinfo.getinfo_access', 'fileid',
                       'create.multi', 'create.delete', 'create.leading-slash', 'create.mkdir-dup',
                       'create.impersonation', 'create.dir-alloc-size', 'create.dosattr_tmp_dir'],
  '3 protection':     ['session.signing-hmac-sha-256', 'session.signing-aes-128-cmac', 'session.signing-aes-128-gmac',
                       'session.encryption-aes-128-ccm', 'session.encryption-aes-128-gcm',
                       'session.encryption-aes-256-ccm', 'session.encryption-aes-256-gcm', 'session.ntlmssp_bug14932'],
  '4 chains':         ['credits', 'compound', 'compound_find', 'compound_async', 'session.reconnect1',
                       'session.reconnect2', 'session.reauth1', 'session.reauth2', 'session.reauth3', 'session.reauth6', 'session.two_logoff',
                       'session.bind_negative_smb202', 'session.bind_negative_smb210s', 'session.bind_negative_smb210d'],
  '5 sharing':        ['sharemode', 'deny', 'delete-on-close-perms', 'lock', 'rename.simple', 'rename.no_sharing',
                       'rename.share_delete_and_delete_access', 'rename.no_share_delete_but_delete_access',
                       'rename.share_delete_no_delete_access', 'rename.msword', 'rename.rename_dir_openfile',
                       'rename.rename_dir_bench', 'rename.close-full-information', 'create.brlocked', 'maxfid',
                       'secleak'],
  '7 oplocks':        ['oplock'],
  '7 leases':         leases.map((name) => `lease.${name}`),
  '8 notify':         ['notify'],
  '9 controls':       ['ioctl.req_resume_key', 'ioctl.req_two_resume_keys', 'ioctl.compress_notsup_get',
                       'ioctl.compress_notsup_set', ...copies.map((name) => `ioctl.copy_chunk_${name}`)],
  '10 times, rights': ['timestamps', 'sdread', 'create_no_streams'],
};

/** Minutes each. */
const long: readonly string[] = ['maxfid'];

/** Suites that are not run, with the reason. */
const inapplicable: Readonly<Record<string, string>> = {
  'acls, create.aclfile, create.acldir, create.nulldacl, session.reauth4': 'permissions are not enforced',
  'aio_delay, change_notify_disabled, samba3misc, kernel-oplocks': 'need a setting of the reference server',
  'bench, scan, hold-oplock, hold-sharemode, check-sharemode':
    'tools, not tests; two of them hold files for smb-rest.test.ts',
  'durable-open, durable-v2-open, replay': 'durable handles',
  'ea, getinfo.complex': 'extended attributes',
  'getinfo.fsinfo, getinfo.qfs_buffercheck, create.quota-fake-file': 'quotas of users',
  'ioctl.dup_extents*, ioctl.sparse*, ioctl.trim*, ioctl.compress*': 'controls that are not offered',
  'multichannel, session.bind*': 'several connections for a session',
  'session.expire*': 'Kerberos',
  streams: 'named streams',
  twrp: 'a snapshot that is made by hand first',
};

interface Outcome {
  readonly stage: string;
  readonly passed: number;
  readonly skipped: number;
  readonly failed: readonly string[];
}

const outcomes = new Map<string, Outcome>();

function torture(port: number, suite: string): Promise<string> {
  const args = ['//127.0.0.1/files', '-p', String(port), '-U', `localhost\\${account}%${accountKey}`];
  const options = { timeout: long.includes(suite) ? 1_200_000 : 240_000, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(smbtorture, [...args, `smb2.${suite}`], options, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

async function runSuite(port: number, stage: string, suite: string): Promise<void> {
  const output = await torture(port, suite);
  const named = (verdicts: string) => {
    const lines = output.matchAll(new RegExp(`^(?:${verdicts}): (.*?)(?: \\[.*)?$`, 'gm'));
    return [...lines].map(([, name]) => `${suite.split('.')[0]}.${name}`);
  };
  const [passed, skipped, failed] = [named('success'), named('skip'), named('failure|error')];
  outcomes.set(suite, { stage, passed: passed.length, skipped: skipped.length, failed });
  const wrong = failed.filter((name) => !(name in cannot));
  assert.deepEqual(wrong, [], output.slice(-4000));
  const better = passed.filter((name) => name in cannot);
  assert.deepEqual(better, [], 'passes now: take it off the list of those that cannot');
  assert.ok(passed.length + skipped.length + failed.length > 0, output.slice(-4000));
}

// Most of them wait most of the time.
test('smbtorture', { skip, concurrency: 5 }, async (all) => {
  const running = Object.entries(stages).map(([stage, suites]) =>
    all.test(`stage ${stage}`, async (t) => {
      const { port } = await givenSmb(t);
      for (const suite of suites.filter((name) => full || !long.includes(name))) {
        await t.test(`smb2.${suite}`, () => runSuite(port, stage, suite));
      }
    }),
  );
  await Promise.all(running);
});

after(async () => {
  if (process.env['LAZULI_TABLE'] === '1' && !skip) await writeTable(join(root, 'docs/smb.md'));
});

const begins = '<!-- smbtorture: written by its test -->\n';
const ends = '<!-- end -->\n';

async function writeTable(path: string): Promise<void> {
  const page = await readFile(path, 'utf8');
  const at = page.indexOf(begins) + begins.length;
  const to = page.indexOf(ends);
  assert.ok(at >= begins.length && to >= at, 'the page has a place for the table');
  await writeFile(path, `${page.slice(0, at)}${tableOf()}${page.slice(to)}`);
}

/** A row for each stage, then what fails and what is not run. */
function tableOf(): string {
  const rows = Object.keys(stages).map((stage) => {
    const suites = [...outcomes].filter(([, outcome]) => outcome.stage === stage);
    const sum = (count: (outcome: Outcome) => number) =>
      suites.reduce((total, [, outcome]) => total + count(outcome), 0);
    const names = [...new Set(suites.map(([suite]) => suite.split('.')[0]))].join(', ');
    const failed = suites.flatMap(([, outcome]) => outcome.failed);
    return [stage, names, sum(({ passed }) => passed), failed.length, sum(({ skipped }) => skipped)];
  });
  const total = (column: number) => rows.reduce((sum, row) => sum + Number(row[column]), 0);
  const all = [...rows, ['all', '', total(2), total(3), total(4)]];
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;
  const failed = [...outcomes.values()].flatMap((outcome) => outcome.failed).sort();
  return [
    line(['Stage', 'Suites', 'Pass', 'Fail', 'Skipped by smbtorture']),
    line(['---', '---', '---', '---', '---']),
    ...all.map(line),
    '\n',
    line(['Fails', 'Because']),
    line(['---', '---']),
    ...failed.map((name) => line([`\`${name}\``, cannot[name] ?? 'a defect'])),
    '\n',
    line(['Not run', 'Because it is about']),
    line(['---', '---']),
    ...Object.entries(inapplicable).map(line),
  ].join('');
}
