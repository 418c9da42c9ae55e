// What files promise, as a small sequential machine: two names in one directory, each with a file or without, that are
// created, written by ranges, leased, renamed onto each other and deleted. Leases of files are for ever, so that no
// time is in the model. A file has three slots; a write covers one or several next to each other with one value.

import type { Model } from './linearizable.js';
import { isOk, judge, type Result } from './models.js';

export const slotCount = 3;

interface FileState {
  /** What each slot holds; empty: nothing was written. */
  readonly slots: readonly string[];
  readonly lease: 'available' | 'leased' | 'broken';
  readonly holder: string;
}

export type PairState = Readonly<Record<string, FileState | undefined>>;

export type FileCall = Readonly<
  | { op: 'create'; name: string; leaseId?: string }
  | { op: 'delete'; name: string; leaseId?: string }
  | { op: 'put'; name: string; from: number; to: number; value: string; leaseId?: string }
  | { op: 'read'; name: string }
  | { op: 'break'; name: string }
  | { op: 'acquire' | 'release'; name: string; leaseId: string }
  | { op: 'rename'; name: string; onto: string; replaces: boolean; leaseId?: string; ontoLeaseId?: string }
>;

const empty: FileState = { slots: Array(slotCount).fill(''), lease: 'available', holder: '' };

export const fileModel: Model<PairState, FileCall, Result> = {
  initial: {},
  key: (state) =>
    Object.keys(state)
      .sort()
      .map((name) => `${name}: ${show(state[name])}`)
      .join(', '),
  step(state, call, result) {
    switch (call.op) {
      case 'read':
        return readFile(state, call.name, result);
      case 'acquire':
      case 'release':
      case 'break':
        return leaseFile(state, call, result);
      case 'rename':
        return renameFile(state, call, result);
      default:
        return writeFile(state, call, result);
    }
  },
};

function show(file: FileState | undefined): string {
  return file === undefined ? 'none' : `[${file.slots.join('|')}] ${file.lease} ${file.holder}`;
}

function readFile(state: PairState, name: string, result: Result | undefined): PairState | undefined {
  const file = state[name];
  if (result === undefined) return state;
  if (file === undefined) return !isOk(result) && result.code === 'ResourceNotFound' ? state : undefined;
  const matches = isOk(result) && result.value === file.slots.join('|') && result.lease === file.lease;
  return matches ? state : undefined;
}

function writeFile(
  state: PairState,
  call: Extract<FileCall, { op: 'create' | 'put' | 'delete' }>,
  result: Result | undefined,
): PairState | undefined {
  const { name, leaseId } = call;
  const file = state[name];
  if (file === undefined && call.op !== 'create') return judge(['ResourceNotFound'], result, state, state);
  const reasons = leaseReasons(file, leaseId);
  if (call.op === 'delete') return judge(reasons, result, state, { ...state, [name]: undefined });
  const kept = forgotten(file ?? empty);
  const slots =
    call.op === 'create'
      ? empty.slots
      : kept.slots.map((slot, index) => (index >= call.from && index < call.to ? call.value : slot));
  return judge(reasons, result, state, { ...state, [name]: { ...kept, slots } });
}

function renameFile(
  state: PairState,
  { name, onto, replaces, leaseId, ontoLeaseId }: Extract<FileCall, { op: 'rename' }>,
  result: Result | undefined,
): PairState | undefined {
  const [source, target] = [state[name], state[onto]];
  if (source === undefined) return judge(['ResourceNotFound'], result, state, state);
  const reasons = leaseReasons(source, leaseId);
  if (target !== undefined)
    reasons.push(...(replaces ? leaseReasons(target, ontoLeaseId) : ['ResourceAlreadyExists']));
  return judge(reasons, result, state, { ...state, [name]: undefined, [onto]: forgotten(source) });
}

function leaseFile(
  state: PairState,
  call: Extract<FileCall, { op: 'acquire' | 'release' | 'break' }>,
  result: Result | undefined,
): PairState | undefined {
  const file = state[call.name];
  if (file === undefined) return judge(['ResourceNotFound'], result, state, state);
  const { lease, holder } = file;
  const become = (next: Partial<FileState>) => ({ ...state, [call.name]: { ...file, ...next } });
  if (call.op === 'break') {
    const reasons = lease === 'available' ? ['LeaseNotPresentWithLeaseOperation'] : [];
    return judge(reasons, result, state, become({ lease: 'broken' }));
  }
  if (call.op === 'acquire') {
    const reasons = lease === 'leased' && holder !== call.leaseId ? ['LeaseAlreadyPresent'] : [];
    return judge(reasons, result, state, become({ lease: 'leased', holder: call.leaseId }));
  }
  const reasons =
    lease === 'available' || holder !== call.leaseId ? ['LeaseIdMismatchWithLeaseOperation'] : [];
  return judge(reasons, result, state, become({ lease: 'available', holder: '' }));
}

/** A lease that is over is as if it had never been, whatever id is named. */
function leaseReasons(file: FileState | undefined, leaseId: string | undefined): string[] {
  if (file?.lease !== 'leased') return leaseId === undefined ? [] : ['LeaseNotPresentWithFileOperation'];
  if (leaseId === undefined) return ['LeaseIdMissing'];
  return leaseId === file.holder ? [] : ['LeaseIdMismatchWithFileOperation'];
}

/** A write forgets a lease that is broken. */
function forgotten(file: FileState): FileState {
  return file.lease === 'leased' ? file : { ...empty, slots: file.slots };
}
