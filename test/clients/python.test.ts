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

for (const [name, service, script] of [
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
