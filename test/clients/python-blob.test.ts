// The newer features of the blob service, by Debian's Python SDK.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '#src/server/start.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { missing, python, succeeds } from '../support/programs.js';

const script = `
import os
from datetime import datetime, timedelta, timezone
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobServiceClient, ImmutabilityPolicy, RetentionPolicy, StandardBlobTier, BlobType

def refused(code, call):
    try:
        call()
    except HttpResponseError as error:
        assert error.error_code == code, error.error_code
        return
    raise SystemExit('not refused with ' + code)

service = BlobServiceClient.from_connection_string(os.environ['CONNECTION'])
container = service.create_container('photos')

# tags and the search for them
for name, kind in (('a', 'cat'), ('b', 'dog'), ('c', 'cat')):
    container.upload_blob(name, name.encode(), tags={'kind': kind, 'of': 'test'})
a = container.get_blob_client('a')
assert a.get_blob_tags() == {'kind': 'cat', 'of': 'test'}
assert [b.name for b in service.find_blobs_by_tags("kind='cat' AND of='test'")] == ['a', 'c']
assert [b.name for b in container.find_blobs_by_tags("kind='dog'")] == ['b']
a.set_blob_tags({'kind': 'bird'})
assert [b.name for b in service.find_blobs_by_tags("kind='bird'")] == ['a']
refused('ConditionNotMet', lambda: a.upload_blob(b'x', overwrite=True, if_tags_match_condition="kind='cat'"))
assert a.get_blob_properties().tag_count == 1

# tiers
a.set_standard_blob_tier(StandardBlobTier.COOL)
assert a.get_blob_properties().blob_tier == 'Cool'
a.set_standard_blob_tier(StandardBlobTier.ARCHIVE)
refused('BlobArchived', lambda: a.download_blob())
a.set_standard_blob_tier(StandardBlobTier.HOT, rehydrate_priority='High')
assert a.get_blob_properties().archive_status == 'rehydrate-pending-to-hot'

# page blobs
disk = container.get_blob_client('disk')
disk.create_page_blob(4096, sequence_number=3)
disk.upload_page(b'p' * 1024, offset=512, length=1024)
first = disk.create_snapshot()['snapshot']
disk.clear_page(offset=512, length=512)
disk.upload_page(b'q' * 512, offset=3584, length=512)
pages, cleared = disk.get_page_ranges()
assert [(r['start'], r['end']) for r in pages] == [(1024, 1535), (3584, 4095)], pages
pages, cleared = disk.get_page_ranges(previous_snapshot_diff=first)
assert [(r['start'], r['end']) for r in pages] == [(3584, 4095)] and [(r['start'], r['end']) for r in cleared] == [(512, 1023)], (pages, cleared)
disk.resize_blob(8192)
assert disk.set_sequence_number('increment')['blob_sequence_number'] == 4
refused('SequenceNumberConditionNotMet', lambda: disk.upload_page(b'x' * 512, offset=0, length=512, if_sequence_number_lt=4))
assert disk.get_blob_properties().size == 8192

# append blobs
log = container.get_blob_client('log')
log.create_append_blob()
assert log.append_block(b'one')['blob_append_offset'] == '0'
refused('AppendPositionConditionNotMet', lambda: log.append_block(b'two', appendpos_condition=0))
log.seal_append_blob()
refused('BlobIsSealed', lambda: log.append_block(b'two'))

# versions: what was overwritten and what was deleted can be read
v = container.get_blob_client('v')
one = v.upload_blob(b'one')['version_id']
two = v.upload_blob(b'two', overwrite=True)['version_id']
assert v.download_blob(version_id=one).readall() == b'one'
assert [b.version_id for b in container.list_blobs(name_starts_with='v', include=['versions'])] == [one, two]
v.delete_blob()
refused('BlobNotFound', lambda: v.get_blob_properties())
assert v.download_blob(version_id=two).readall() == b'two'
v.start_copy_from_url(v.url + '?versionid=' + one)
assert v.download_blob().readall() == b'one'

# immutability and legal hold
soon = datetime.now(timezone.utc) + timedelta(days=1)
v.set_immutability_policy(ImmutabilityPolicy(expiry_time=soon, policy_mode='Unlocked'))
refused('BlobImmutableDueToPolicy', lambda: v.delete_blob())
v.delete_immutability_policy()
v.set_legal_hold(True)
assert v.get_blob_properties().has_legal_hold
refused('BlobImmutableDueToLegalHold', lambda: v.set_blob_metadata({'a': '1'}))
v.set_legal_hold(False)
v.delete_blob()

# batches
container.set_standard_blob_tier_blobs('Cool', 'b', 'c')
assert container.get_blob_client('c').get_blob_properties().blob_tier == 'Cool'
answers = list(container.delete_blobs('b', 'c'))
assert [answer.status_code for answer in answers] == [202, 202]

# soft delete
service.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=True, days=2))
assert service.get_service_properties()['delete_retention_policy'].days == 2
log.delete_blob()
assert not log.exists()

# bytes by URL
source = container.get_blob_client('source')
source.upload_blob(b'0123456789')
from azure.storage.blob import generate_blob_sas
sas = generate_blob_sas(service.account_name, 'photos', 'source', account_key=service.credential.account_key, permission='r', expiry=datetime.utcnow() + timedelta(minutes=5))
target = container.get_blob_client('target')
target.stage_block_from_url('AAAA', source.url + '?' + sas, source_offset=2, source_length=3)
target.commit_block_list(['AAAA'])
assert target.download_blob().readall() == b'234'
target.upload_blob_from_url(source.url + '?' + sas, overwrite=True)
assert target.download_blob().readall() == b'0123456789'
print('ok')
`;

test('Python: tags, tiers, page blobs, versions, immutability, batches', {
  skip: missing(python),
}, async () => {
  const settings = { ...developmentAccount.settings, versioning: true, versionLevelImmutability: true };
  const server = await start({ services: ['blob'], accounts: [{ ...developmentAccount, settings }] });
  try {
    const output = await succeeds(python, ['-c', script], { env: { CONNECTION: server.connectionString } });
    assert.equal(output.trim(), 'ok');
  } finally {
    await server.stop();
  }
});
