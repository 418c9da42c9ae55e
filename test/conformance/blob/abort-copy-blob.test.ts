import { test } from 'node:test';
import { given } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const abort = { 'x-ms-copy-action': 'abort' };

test('a copy that is not pending cannot be aborted', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  const target = container.blob('target');
  await gives(target.copyFrom(blob), 202);
  await refuses(target.put('comp=copy&copyid=x', abort), 409, 'NoPendingCopyOperation');
  await refuses(target.put('comp=copy', abort), 400, 'MissingRequiredQueryParameter');
  await refuses(container.blob('none').put('comp=copy&copyid=x', abort), 404, 'BlobNotFound');
});
