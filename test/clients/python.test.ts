// Debian's Python SDKs against a running server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '#src/server/start.js';
import { missing, python, succeeds } from '../support/programs.js';

const skip = missing(python);

const queues = `
import os
from azure.storage.queue import QueueServiceClient, generate_queue_sas, QueueClient
from azure.core.exceptions import ResourceNotFoundError
from datetime import datetime, timedelta
service = QueueServiceClient.from_connection_string(os.environ['CONNECTION'])
queue = service.create_queue('work', metadata={'colour': 'blue'})
queue.send_message('hello <&> w\\u00f6rld')
queue.send_message('two', visibility_timeout=100)
assert [m.content for m in queue.peek_messages(5)] == ['hello <&> w\\u00f6rld']
message = next(iter(queue.receive_messages(visibility_timeout=30)))
updated = queue.update_message(message, visibility_timeout=0, content='changed')
try:
    queue.delete_message(message.id, message.pop_receipt)
    raise SystemExit('a stale receipt was taken')
except ResourceNotFoundError as error:
    assert error.error_code == 'MessageNotFound', error.error_code
queue.delete_message(updated.id, updated.pop_receipt)
assert queue.get_queue_properties().approximate_message_count == 1
assert [q.name for q in service.list_queues(include_metadata=True)] == ['work']
sas = generate_queue_sas(service.account_name, 'work', service.credential.account_key, permission='a', expiry=datetime.utcnow() + timedelta(minutes=5))
QueueClient.from_queue_url(queue.url.split('?')[0], credential=sas).send_message('by sas')
queue.clear_messages()
queue.delete_queue()
print('ok')
`;

const tables = `
import os
from azure.data.tables import TableServiceClient, UpdateMode, TableTransactionError
from azure.core import MatchConditions
from azure.core.exceptions import ResourceModifiedError, ResourceExistsError
from datetime import datetime, timezone
import uuid
service = TableServiceClient.from_connection_string(os.environ['CONNECTION'])
table = service.create_table('people')
row = {'PartitionKey': 'a', 'RowKey': "o'clock", 'text': 'x', 'small': 5, 'large': (2**40, 'Edm.Int64'), 'when': datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc), 'real': 1.5, 'flag': True, 'raw': b'\\x01\\x02', 'id': uuid.UUID('12345678-1234-1234-1234-123456789abc')}
table.create_entity(row)
try:
    table.create_entity(row)
    raise SystemExit('inserted twice')
except ResourceExistsError:
    pass
read = table.get_entity('a', "o'clock")
assert read['small'] == 5 and read['real'] == 1.5 and read['flag'] is True and read['raw'] == b'\\x01\\x02' and read['large'][0] == 2**40, read
etag = read.metadata['etag']
table.update_entity({'PartitionKey': 'a', 'RowKey': "o'clock", 'small': 6}, mode=UpdateMode.MERGE, etag=etag, match_condition=MatchConditions.IfNotModified)
try:
    table.update_entity({'PartitionKey': 'a', 'RowKey': "o'clock", 'small': 7}, mode=UpdateMode.MERGE, etag=etag, match_condition=MatchConditions.IfNotModified)
    raise SystemExit('a stale etag was taken')
except ResourceModifiedError:
    pass
table.submit_transaction([('create', {'PartitionKey': 'b', 'RowKey': str(n), 'v': n}) for n in range(100)])
try:
    table.submit_transaction([('create', {'PartitionKey': 'b', 'RowKey': 'new'}), ('create', {'PartitionKey': 'b', 'RowKey': '1'})])
    raise SystemExit('half a transaction')
except TableTransactionError as error:
    assert error.index == 1, error.index
assert len(list(table.query_entities("PartitionKey eq 'b' and v ge 90"))) == 10
assert len(list(table.list_entities(results_per_page=30))) == 101
table.delete_entity('b', '1')
assert [t.name for t in service.list_tables()] == ['people']
service.delete_table('people')
print('ok')
`;

const blobs = `
import os
from azure.storage.blob import BlobServiceClient, BlobLeaseClient, generate_container_sas, ContainerClient, ContainerSasPermissions
from azure.core import MatchConditions
from azure.core.exceptions import ResourceModifiedError, ResourceExistsError, HttpResponseError
from datetime import datetime, timedelta
service = BlobServiceClient.from_connection_string(os.environ['CONNECTION'], max_block_size=256*1024, max_single_put_size=64*1024)
container = service.create_container('photos', metadata={'a': '1'})
blob = container.get_blob_client('dir/c\u00e4t <1>.bin')
body = os.urandom(1_500_000)
blob.upload_blob(body, metadata={'colour': 'blue'}, max_concurrency=4)
assert blob.download_blob(max_concurrency=4).readall() == body
assert blob.download_blob(offset=1000, length=300_000).readall() == body[1000:301_000]
try:
    blob.upload_blob(b'again')
    raise SystemExit('overwritten')
except ResourceExistsError as error:
    assert error.error_code == 'BlobAlreadyExists', error.error_code
etag = blob.get_blob_properties().etag
blob.set_blob_metadata({'colour': 'red'}, etag=etag, match_condition=MatchConditions.IfNotModified)
try:
    blob.set_blob_metadata({}, etag=etag, match_condition=MatchConditions.IfNotModified)
    raise SystemExit('a stale etag was taken')
except ResourceModifiedError as error:
    assert error.error_code == 'ConditionNotMet', error.error_code
lease = blob.acquire_lease(15)
try:
    blob.delete_blob()
    raise SystemExit('deleted without the lease')
except HttpResponseError as error:
    assert error.error_code == 'LeaseIdMissing', error.error_code
lease.release()
snapshot = blob.create_snapshot()
blob.upload_blob(b'small', overwrite=True)
old = service.get_blob_client('photos', blob.blob_name, snapshot=snapshot['snapshot'])
assert old.download_blob().readall() == body
copy = container.get_blob_client('copy')
assert copy.start_copy_from_url(blob.url)['copy_status'] == 'success'
assert copy.download_blob().readall() == b'small'
log = container.get_blob_client('log')
log.create_append_blob()
for part in (b'one', b'two'): log.append_block(part)
assert log.download_blob().readall() == b'onetwo'
assert [b.name for b in container.list_blobs()] == ['copy', blob.blob_name, 'log']
assert sorted(b.name for b in container.walk_blobs()) == ['copy', 'dir/', 'log']
sas = generate_container_sas(service.account_name, 'photos', account_key=service.credential.account_key, permission=ContainerSasPermissions(read=True, list=True), expiry=datetime.utcnow() + timedelta(minutes=5))
guest = ContainerClient.from_container_url(container.url.split('?')[0] + '?' + sas)
assert len(list(guest.list_blobs())) == 3
container.delete_blob(blob.blob_name, delete_snapshots='include')
service.delete_container('photos')
print('ok')
`;

for (const [name, service, script] of [
  ['azure.storage.blob', 'blob', blobs],
  ['azure.storage.queue', 'queue', queues],
  ['azure.data.tables', 'table', tables],
] as const) {
  test(`Python: ${name}`, { skip }, async () => {
    const server = await start({ services: [service] });
    try {
      const output = await succeeds(python, ['-c', script], { env: { CONNECTION: server.connectionString } });
      assert.equal(output.trim(), 'ok');
    } finally {
      await server.stop();
    }
  });
}
