// Debian's azure-cli and Python SDK for file shares against a running server.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { start } from '#src/server/start.js';
import { missing, python, succeeds } from '../support/programs.js';

const az = '/usr/bin/az';

type Storage = (...args: string[]) => Promise<unknown>;

async function givenAz(t: TestContext): Promise<{ storage: Storage; folder: string; url: string }> {
  const server = await start({ services: ['blob', 'file'] });
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-az-file-'));
  t.after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const env = {
    AZURE_STORAGE_CONNECTION_STRING: server.connectionString,
    AZURE_CONFIG_DIR: join(folder, 'config'),
    AZURE_CORE_COLLECT_TELEMETRY: 'false',
    AZURE_CORE_ONLY_SHOW_ERRORS: 'true',
  };
  const storage: Storage = async (...args) => {
    const output = await succeeds(az, ['storage', ...args, '--output', 'json'], { env });
    return output.trim() === '' ? undefined : JSON.parse(output);
  };
  return { storage, folder, url: server.urls.file ?? '' };
}

const names = (listed: unknown) => (listed as { name: string }[]).map(({ name }) => name).sort();

test('az storage share, directory and file', { skip: missing(az) }, async (t) => {
  const { storage, folder } = await givenAz(t);
  const share = ['--share-name', 'docs'];
  await storage('share', 'create', '--name', 'docs', '--quota', '7');
  assert.deepEqual(names(await storage('share', 'list')), ['docs']);
  await storage('share', 'metadata', 'update', '--name', 'docs', '--metadata', 'colour=blue');
  assert.deepEqual(await storage('share', 'metadata', 'show', '--name', 'docs'), { colour: 'blue' });
  await storage('directory', 'create', ...share, '--name', 'one');
  assert.deepEqual(await storage('directory', 'exists', ...share, '--name', 'one'), { exists: true });
  const up = join(folder, 'up.txt');
  await writeFile(up, 'hello from az');
  await storage('file', 'upload', ...share, '--source', up, '--path', 'one/a.txt');
  assert.deepEqual(names(await storage('file', 'list', ...share, '--path', 'one')), ['a.txt']);
  const down = join(folder, 'down.txt');
  await storage('file', 'download', ...share, '--path', 'one/a.txt', '--dest', down);
  assert.equal(await readFile(down, 'utf8'), 'hello from az');
  await storage('file', 'resize', ...share, '--path', 'one/a.txt', '--size', '5');
  const shown = (await storage('file', 'show', ...share, '--path', 'one/a.txt')) as {
    properties: { contentLength: number };
  };
  assert.equal(shown.properties.contentLength, 5);
  const snapshot = (await storage('share', 'snapshot', '--name', 'docs')) as { snapshot: string };
  assert.match(snapshot.snapshot, /\.0000000Z$/);
  await storage('file', 'delete', ...share, '--path', 'one/a.txt');
  assert.deepEqual(await storage('file', 'exists', ...share, '--path', 'one/a.txt'), { exists: false });
  await storage('directory', 'delete', ...share, '--name', 'one');
  await storage('share', 'delete', '--name', 'docs', '--delete-snapshots', 'include');
  assert.deepEqual(names(await storage('share', 'list')), []);
});

test('az storage file upload-batch and download-batch', { skip: missing(az) }, async (t) => {
  const { storage, folder } = await givenAz(t);
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  await mkdir(join(from, 'sub'), { recursive: true });
  await mkdir(to);
  await writeFile(join(from, 'a.txt'), 'a');
  await writeFile(join(from, 'sub', 'b.bin'), Buffer.alloc(5 * 2 ** 20, 'b'));
  await storage('share', 'create', '--name', 'batch');
  await storage('file', 'upload-batch', '--destination', 'batch', '--source', from);
  await storage('file', 'download-batch', '--source', 'batch', '--destination', to);
  assert.deepEqual((await readdir(to)).sort(), ['a.txt', 'sub']);
  assert.ok((await readFile(join(to, 'sub', 'b.bin'))).equals(Buffer.alloc(5 * 2 ** 20, 'b')));
  await storage('file', 'delete-batch', '--source', 'batch');
});

test('az storage: files are copied from blobs, blobs from files', { skip: missing(az) }, async (t) => {
  const { storage, folder, url } = await givenAz(t);
  const up = join(folder, 'up.txt');
  await writeFile(up, 'hello from a blob');
  await storage('container', 'create', '--name', 'photos');
  await storage('blob', 'upload', '--container-name', 'photos', '--name', 'sub/a.txt', '--file', up);
  await storage('share', 'create', '--name', 'docs');
  const from = ['--source-container', 'photos', '--source-blob', 'sub/a.txt'];
  const to = ['--destination-share', 'docs', '--destination-path', 'copied.txt'];
  await storage('file', 'copy', 'start', ...from, ...to);
  const down = join(folder, 'down.txt');
  await storage('file', 'download', '--share-name', 'docs', '--path', 'copied.txt', '--dest', down);
  assert.equal(await readFile(down, 'utf8'), 'hello from a blob');
  const expiry = ['--permissions', 'r', '--expiry', '2099-01-01T00:00Z'];
  const sas = await storage(
    'file',
    'generate-sas',
    '--share-name',
    'docs',
    '--path',
    'copied.txt',
    ...expiry,
  );
  const source = ['--source-uri', `${url}/devstoreaccount1/docs/copied.txt?${sas}`];
  const blob = ['--destination-container', 'photos', '--destination-blob', 'back.txt'];
  await storage('blob', 'copy', 'start', ...source, ...blob);
  await storage('blob', 'download', '--container-name', 'photos', '--name', 'back.txt', '--file', down);
  assert.equal(await readFile(down, 'utf8'), 'hello from a blob');
});

const script = `
import os
from datetime import datetime, timedelta
from azure.storage.fileshare import ShareServiceClient, ShareFileClient, generate_file_sas, generate_account_sas, ResourceTypes, AccountSasPermissions
from azure.core.exceptions import ResourceNotFoundError, ResourceExistsError, HttpResponseError
service = ShareServiceClient.from_connection_string(os.environ['CONNECTION'])
share = service.create_share('docs', metadata={'colour': 'blue'}, quota=3)
assert share.get_share_properties().quota == 3
try:
    service.create_share('docs')
    raise SystemExit('created twice')
except ResourceExistsError as error:
    assert error.error_code == 'ShareAlreadyExists', error.error_code
directory = share.create_directory('Dir')
sub = directory.create_subdirectory('sub')
file = directory.get_file_client('w\\u00f6rld.bin')
data = bytes(range(256)) * 40000
file.upload_file(data, max_concurrency=3)
assert file.download_file(max_concurrency=3).readall() == data
assert file.download_file(offset=1000, length=500).readall() == data[1000:1500]
assert sorted(item['name'] for item in directory.list_directories_and_files()) == ['sub', 'w\\u00f6rld.bin']
file.set_file_metadata({'k': 'v'})
properties = file.get_file_properties()
assert properties.metadata == {'k': 'v'} and properties.size == len(data)
assert share.get_share_stats() == len(data)
snapshot = share.create_snapshot()
file.upload_range(b'x' * 512, offset=0, length=512)
old = ShareFileClient.from_connection_string(os.environ['CONNECTION'], 'docs', 'Dir/w\\u00f6rld.bin', snapshot=snapshot)
assert old.download_file(offset=0, length=4).readall() == data[:4]
ranges, cleared = file.get_ranges_diff(previous_sharesnapshot=snapshot)
assert ranges == [{'start': 0, 'end': 511}], ranges
file.clear_range(0, 512)
assert file.download_file(offset=0, length=4).readall() == b'\\0' * 4
lease = file.acquire_lease()
try:
    file.delete_file()
    raise SystemExit('a leased file was deleted')
except HttpResponseError as error:
    assert error.error_code == 'LeaseIdMissing', error.error_code
lease.release()
copy = share.get_file_client('copy.bin')
assert copy.start_copy_from_url(file.url)['copy_status'] == 'success'
assert copy.download_file().readall()[512:] == data[512:]
key = share.create_permission_for_share('O:SYG:SYD:(A;;FA;;;BA)')
assert share.get_permission_for_share(key) == 'O:SYG:SYD:(A;;FA;;;BA)'
assert list(copy.list_handles()) == []
sas = generate_file_sas(service.account_name, 'docs', ['copy.bin'], service.credential.account_key, permission='r', expiry=datetime.utcnow() + timedelta(minutes=5))
reader = ShareFileClient(service.url, 'docs', 'copy.bin', credential=sas)
assert reader.download_file().readall()[512:] == data[512:]
try:
    reader.upload_range(b'x', offset=0, length=1)
    raise SystemExit('a SAS to read was taken to write')
except HttpResponseError as error:
    assert error.error_code == 'AuthorizationPermissionMismatch', error.error_code
from azure.storage.blob import BlobServiceClient, generate_blob_sas
blobs = BlobServiceClient.from_connection_string(os.environ['CONNECTION'])
blob = blobs.create_container('photos').upload_blob('cat', data)
link = generate_blob_sas(service.account_name, 'photos', 'cat', account_key=service.credential.account_key, permission='r', expiry=datetime.utcnow() + timedelta(minutes=5))
assert copy.start_copy_from_url(blob.url + '?' + link)['copy_status'] == 'success'
assert copy.download_file().readall() == data
copy.upload_range_from_url(blob.url + '?' + link, offset=0, length=1000, source_offset=7)
assert copy.download_file(offset=0, length=1000).readall() == data[7:1007]
back = blobs.get_blob_client('photos', 'back')
assert back.start_copy_from_url(reader.url)['copy_status'] == 'success'
assert back.download_blob().readall() == copy.download_file().readall()
copy.delete_file()
file.delete_file()
sub.delete_directory()
directory.delete_directory()
share.delete_share(delete_snapshots=True)
assert [s.name for s in service.list_shares()] == []
print('ok')
`;

test('Python: azure.storage.fileshare', { skip: missing(python) }, async (t) => {
  const server = await start({ services: ['blob', 'file'] });
  t.after(() => server.stop());
  const output = await succeeds(python, ['-c', script], { env: { CONNECTION: server.connectionString } });
  assert.equal(output.trim(), 'ok');
});
