// Backups of a store whose writes fail now and then: each one that was taken, with those it stands on, is what
// its snapshot showed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedDisk } from '../base/files.simulated.js';
import { seededRandom } from '../base/random.js';
import { metadataNames, readMetadata, readRows } from './backup-files.js';
import { memoryDisk } from './disk.js';
import type { Engine, Snapshot } from './engine.js';
import { EngineError, MissingFullBackupError } from './errors.js';
import { FaultyDisk } from './faulty-disk.suite.js';
import { openEngineOn } from './level.js';
import { verifyChain } from './restore.js';

const seed = 21;
const rounds = process.env.LAZULI_FULL ? 2000 : 200;

async function contentOf(snapshot: Snapshot): Promise<Map<string, string>> {
  const { rows } = await snapshot.range(Buffer.alloc(0), undefined, { limit: 10_000 });
  return new Map(rows.map(({ key, value, version }) => [`${key}`, `${value}@${version}`]));
}

/** What a restore of these backups would hold. */
async function replayed(files: SimulatedDisk, folders: readonly string[]): Promise<Map<string, string>> {
  const content = new Map<string, string>();
  for (const backup of await verifyChain(folders, { files })) {
    for await (const rows of readRows(files, backup.folder, backup)) {
      for (const { key, value, version } of rows) {
        if (value === undefined) content.delete(`${key}`);
        else content.set(`${key}`, `${value}@${version}`);
      }
    }
  }
  return new Map([...content].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function opened(engine: Engine): Promise<void> {
  while (engine.health().state !== 'open') await new Promise((resolve) => setImmediate(resolve));
}

test(`${rounds} backups while writes fail (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const disk = new FaultyDisk(memoryDisk(), true);
  const files = new SimulatedDisk();
  await using engine = await openEngineOn(disk, { files, retryMs: 0, maxChangeLogBytes: 300 });
  const taken = { full: 0, incremental: 0, refused: 0, failed: 0 };
  const backups = new Map<string, { folder: string; parent: string }>();
  // Also of those that failed: their files may be there, and another may stand on them.
  const note = async (folder: string) => {
    for (const name of Object.values(metadataNames)) {
      const metadata = await readMetadata(files, `${folder}/${name}`);
      if (metadata !== undefined) backups.set(metadata.id, { folder, parent: metadata.parent });
    }
  };
  const chainTo = (id: string): string[] => {
    const backup = backups.get(id);
    assert.ok(backup, 'what a backup stands on is there');
    return backup.parent === id ? [backup.folder] : [...chainTo(backup.parent), backup.folder];
  };
  for (let round = 0; round < rounds; round++) {
    disk.fate = () => (random() < 0.9 ? 'done' : random() < 0.5 ? 'gone' : 'turns up');
    for (let count = random() * 12; count > 0; count--) {
      const key = Buffer.from(`key ${Math.floor(random() * 50)}`);
      const value = random() < 0.3 ? undefined : Buffer.from(`${round}/${count}`);
      await opened(engine);
      try {
        await (await engine.commit({ writes: [{ key, value }] })).durable;
      } catch (error) {
        assert.ok(error instanceof EngineError, String(error));
      }
    }
    await opened(engine);
    const folder = `/backups/${round}`;
    const kind = random() < 0.15 ? 'full' : 'incremental';
    let shown = new Map<string, string>();
    const during = async (snapshot: Snapshot) => {
      shown = await contentOf(snapshot);
    };
    try {
      const { id } = await engine.backup(folder, { kind, during });
      await note(folder);
      assert.deepEqual(await replayed(files, chainTo(id)), shown);
      taken[kind]++;
    } catch (error) {
      assert.ok(error instanceof EngineError, String(error));
      await note(folder);
      taken[error instanceof MissingFullBackupError ? 'refused' : 'failed']++;
    }
  }
  for (const [what, count] of Object.entries(taken)) assert.ok(count > 3, `${what}: ${count}`);
});
