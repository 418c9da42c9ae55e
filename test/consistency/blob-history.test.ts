// Snapshots, versions, soft delete, leases, policies and legal holds of one blob in every combination, against a small
// model (blob-model.ts). Block blobs, append blobs and page blobs; accounts that keep versions or not, and what was
// deleted or not.

import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { Container } from '../support/given.js';
import { assertNothingLeft } from '../support/leftovers.js';
import { gives, startServer } from '../support/server.js';
import { assertUsageExact } from '../support/usage.js';
import { Run, retentionDays, step } from './blob-model.js';

const seed = 20_261_116;

const accounts = ['nothing', 'versions', 'versions and policies'] as const;

for (const keeps of accounts) {
  for (const retains of [false, true]) {
    const versioning = keeps !== 'nothing';
    const immutable = keeps === 'versions and policies';
    describe(`${keeps} kept, soft delete ${retains ? 'on' : 'off'}`, () => {
      const stops: (() => Promise<void>)[] = [];
      let container: Container;
      let made = 0;
      before(async () => {
        const server = await startServer({ after: (stop) => stops.push(stop as never) }, 'blob', {
          settings: { versioning, versionLevelImmutability: immutable },
        });
        container = new Container(server, 'photos');
        await gives(container.create(), 201);
        const body = `<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>${retentionDays}</Days><AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy></StorageServiceProperties>`;
        if (retains)
          await gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
      });
      after(async () => {
        const { accounts } = container.server.running;
        await accounts.changeSettings('devstoreaccount1', (settings) => ({
          ...settings,
          versionLevelImmutability: false,
        }));
        await gives(container.delete(), 202);
        await assertNothingLeft(container.server);
        for (const stop of stops) await stop();
      });

      for (const type of ['BlockBlob', 'AppendBlob', 'PageBlob'] as const) {
        test(`${type}, seed ${seed}`, async () => {
          const property = fc.asyncProperty(
            fc.array(step, { minLength: 1, maxLength: 16 }),
            async (steps) => {
              const blob = container.blob(`blob${++made}x`);
              const run = new Run(blob, { type, versioning, retains, immutable });
              for (const one of steps) {
                await run.take(one);
                await run.check();
              }
              await assertUsageExact(container.server);
            },
          );
          await fc.assert(property, { seed, numRuns: process.env['LAZULI_FULL'] === '1' ? 300 : 12 });
        });
      }
    });
  }
}
