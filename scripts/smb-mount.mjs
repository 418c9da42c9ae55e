// `node scripts/smb-mount.mjs` after a build: the Linux kernel mounts a share over SMB and works on it, with each dialect
// and kind of protection. The kernel is Debian's, in a machine that QEMU emulates without any rights on this one, with a
// file system in memory of busybox and a few modules. Not part of CI: it needs qemu-system-x86, busybox-static and, for
// the kernel's package, `apt-get download`, and takes some minutes. SMB_MOUNT_KERNEL names a folder with an unpacked package.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startOurs } from '../build/bench/smb.js';

const qemu = 'qemu-system-x86_64';
const busybox = '/bin/busybox';
const minutes = 15;

const mounts = [
  'vers=3.1.1',
  'vers=3.1.1,seal',
  'vers=3.0',
  'vers=3.0,seal',
  'vers=2.1',
  'vers=3.1.1,sec=ntlmsspi,cache=none',
  'vers=3.1.1,nobrl',
];

/** What the kernel needs beside what is built in; those that a kernel has built in are not found and not missed. */
const modules = [
  ...[
    'virtio_pci',
    'virtio_net',
    'cifs',
    'cifs_arc4',
    'cifs_md4',
    'nls_utf8',
    'hmac',
    'md5',
    'ecb',
    'cmac',
    'ccm',
  ],
  ...['ctr', 'gcm', 'ghash-generic', 'sha256_generic', 'sha512_generic', 'aes_generic', 'gf128mul'],
];

/** Linux 6.1 forgets a session of SMB 2.1 before it logs off, and so sends nothing: no fault of the server. */
const forgetsSession = /smb2_calc_signature: Could not find session|Session Logoff failure rc=-2/;

const work = mkdtempSync(join(tmpdir(), 'lazuli-smb-mount-'));
try {
  const kernel = kernelFolder();
  const image = join(kernel, 'boot', find(join(kernel, 'boot'), /^vmlinuz-/));
  const server = await startOurs();
  const output = await boot(image, makeInitramfs(kernel, server)).finally(() =>
    server[Symbol.asyncDispose](),
  );
  const wanted = mounts.map((options) => `PASS ${options}`);
  const missing = wanted.filter((line) => !output.includes(line));
  const complaints = output
    .split('\n')
    .filter((line) => /CIFS: VFS|BUG:|Oops|FAIL/.test(line) && !forgetsSession.test(line));
  for (const line of [...wanted.filter((line) => output.includes(line)), ...complaints]) console.log(line);
  for (const line of missing) console.log(`missing: ${line}`);
  process.exitCode = missing.length + complaints.length === 0 ? 0 : 1;
  if (process.exitCode === 1) console.log(output.slice(-6000));
} finally {
  rmSync(work, { recursive: true });
}

function find(folder, pattern) {
  const found = readdirSync(folder).find((name) => pattern.test(name));
  if (found === undefined) throw new Error(`nothing in ${folder} matches ${pattern}`);
  return found;
}

/** Debian's newest kernel, unpacked and not installed. */
function kernelFolder() {
  const given = process.env.SMB_MOUNT_KERNEL;
  if (given !== undefined) return given;
  const depends = execFileSync('apt-cache', ['depends', 'linux-image-amd64'], { encoding: 'utf8' });
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (name === undefined) throw new Error('apt knows no linux-image-amd64');
  execFileSync('apt-get', ['download', name], { cwd: work });
  execFileSync('dpkg', ['-x', join(work, find(work, /^linux-image-.*\.deb$/)), join(work, 'kernel')]);
  return join(work, 'kernel');
}

/** The modules that were asked for and those they need, in the order in which they can be loaded. */
function moduleFiles(kernel) {
  const version = find(join(kernel, 'lib/modules'), /./);
  const home = join(kernel, 'lib/modules', version);
  const files = readdirSync(home, { recursive: true }).filter((name) => name.endsWith('.ko'));
  const byName = new Map(files.map((name) => [basename(name, '.ko').replaceAll('-', '_'), join(home, name)]));
  const ordered = [];
  const add = (name) => {
    const file = byName.get(name.replaceAll('-', '_'));
    if (file === undefined || ordered.includes(file)) return;
    for (const needed of needs(file)) add(needed);
    ordered.push(file);
  };
  for (const name of modules) add(name);
  return ordered;
}

/** A module says in its own text which others it needs. */
function needs(file) {
  const text = readFileSync(file).toString('latin1');
  const said = /\0depends=([^\0]*)\0/.exec(text)?.[1] ?? '';
  return said.split(',').filter((name) => name !== '');
}

function makeInitramfs(kernel, { port, login }) {
  const root = join(work, 'root');
  for (const folder of ['bin', 'dev', 'proc', 'sys', 'mnt', 'tmp', 'modules'])
    mkdirSync(join(root, folder), { recursive: true });
  cpSync(existsSync(busybox) ? busybox : '/usr/bin/busybox', join(root, 'bin/busybox'), {
    dereference: true,
  });
  copyProgram('/usr/bin/flock', root);
  const names = [];
  for (const [index, file] of moduleFiles(kernel).entries()) {
    const name = `${String(index).padStart(2, '0')}-${basename(file)}`;
    names.push(name);
    cpSync(file, join(root, 'modules', name));
  }
  const at = login.indexOf('%');
  const options = `ip=10.0.2.2,port=${port},username=${login.slice(0, at)},password=${login.slice(at + 1)}`;
  writeFileSync(join(root, 'init'), initScript(names, options), { mode: 0o755 });
  const archive = join(work, 'initramfs');
  execFileSync('sh', ['-c', `find . | busybox cpio -o -H newc > '${archive}'`], { cwd: root, stdio: 'pipe' });
  return archive;
}

/** With the libraries that it needs, where it looks for them. */
function copyProgram(file, root) {
  const needed = execFileSync('ldd', [file], { encoding: 'utf8' }).match(/\/\S+\.so\S*/g) ?? [];
  for (const library of needed) cpSync(library, join(root, library), { dereference: true });
  cpSync(file, join(root, 'bin', basename(file)), { dereference: true });
}

function initScript(names, options) {
  // The kernel trusts the attributes it has seen for a second.
  const steps = `
    mkdir d && echo one > d/a && echo two >> d/a && [ "$(cat d/a)" = "one
two" ] &&
    cp d/a d/b && mv d/b d/c && [ ! -e d/b ] && cmp d/a d/c &&
    dd if=/dev/urandom of=/tmp/big bs=1M count=20 2>/dev/null && cp /tmp/big d/big && sync &&
    echo 3 > /proc/sys/vm/drop_caches && [ "$(md5sum < d/big)" = "$(md5sum < /tmp/big)" ] &&
    truncate -s 1000 d/big && [ "$(stat -c %s d/big)" = 1000 ] && touch -d '2020-01-02 03:04:05' d/a &&
    [ "$(stat -c %Y d/a)" = 1577934245 ] && chmod 444 d/c && sleep 2 && chmod 644 d/c && echo more >> d/c && [ "$(tail -n 1 d/c)" = more ] &&
    flock d/a true && [ "$(ls d | sort | tr '\\n' ' ')" = "a big c " ] && df . > /dev/null &&
    rm d/a d/big d/c && rmdir d && [ -z "$(ls -A)" ]`;
  return `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; mount -t tmpfs none /tmp
${names.map((name) => `insmod /modules/${name}`).join('\n')}
sleep 1
ifconfig lo up; ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up; route add default gw 10.0.2.2
for extra in ${mounts.join(' ')}; do
  if mount -t cifs //10.0.2.2/bench /mnt -o ${options},serverino,$extra; then
    if (cd /mnt && ${steps}) && umount /mnt; then echo "PASS $extra"; else echo "FAIL $extra"; ls -la /mnt /mnt/d; umount -l /mnt; fi
  else echo "FAIL mount $extra"; fi
done
dmesg | grep 'CIFS: VFS'
echo END
poweroff -f
`;
}

function boot(image, initramfs) {
  const args = ['-m', '512', '-nographic', '-no-reboot', '-kernel', image, '-initrd', initramfs];
  args.push('-append', 'console=ttyS0 quiet loglevel=4 panic=-1');
  args.push('-netdev', 'user,id=n', '-device', 'virtio-net-pci,netdev=n');
  const machine = spawn(qemu, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((done, fail) => {
    let output = '';
    const timer = setTimeout(() => machine.kill('SIGKILL'), minutes * 60_000);
    machine.on('error', fail);
    machine.stdout.on('data', (chunk) => {
      output += chunk;
    });
    machine.on('close', () => {
      clearTimeout(timer);
      done(output.replaceAll('\r', ''));
    });
  });
}
