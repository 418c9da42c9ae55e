// Snapshots of a share as clients address them: a path component `@GMT-2026.04.07-02.41.07`, or a context of CREATE with
// the time. All that is opened so is read-only.

import { msOf, type Ticks, ticksOf, type Volume } from '../services/file/file-system.js';
import type { Call } from './call.js';
import type { Tree } from './session.js';
import { Refused } from './status.js';

const form = /^@GMT-(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d)$/i;

export function snapshotName(time: Ticks): string {
  const iso = new Date(msOf(time)).toISOString();
  return `@GMT-${iso.slice(0, 10).replaceAll('-', '.')}-${iso.slice(11, 19).replaceAll(':', '.')}`;
}

/** The time that a component names; nothing if it is a name like any other. */
export function snapshotTime(component: string): Ticks | undefined {
  const [, year, month, day, hour, minute, second] = form.exec(component) ?? [];
  if (year === undefined) return undefined;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(ms)) throw new Refused('OBJECT_NAME_NOT_FOUND');
  return ticksOf(ms);
}

export interface Version {
  /** Without the component that names the snapshot. */
  readonly path: readonly string[];
  readonly snapshot: Ticks | undefined;
}

export function versionOf(path: readonly string[], context: Buffer | undefined): Version {
  if (context !== undefined && context.length < 8) throw new Refused('INVALID_PARAMETER');
  const asked = context?.readBigUInt64LE();
  const at = path.findIndex((component) => snapshotTime(component) !== undefined);
  if (at < 0) return { path, snapshot: asked === 0n ? undefined : asked };
  return { path: path.toSpliced(at, 1), snapshot: snapshotTime(path[at] ?? '') };
}

/** The share, or its snapshot of that second. */
export async function volumeOf(
  call: Call,
  tree: Extract<Tree, { kind: 'disk' }>,
  snapshot: Ticks | undefined,
): Promise<Volume> {
  if (snapshot === undefined) return tree.volume;
  const account = call.session?.secured?.user.account ?? '';
  const found = await call.connection.server.volumes.open(account, tree.share, snapshot);
  if (!found) throw new Refused('OBJECT_NAME_NOT_FOUND');
  return found;
}
