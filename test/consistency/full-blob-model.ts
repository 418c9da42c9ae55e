// A block blob with all that belongs to it, as a small sequential machine: metadata, a tag, a lease, snapshots, blocks that
// were put and not committed, the list it was committed from. It shares nothing with the server.
//
// Every write that changes the ETag has a text of its own and sets the metadata to it, so that stands for the ETag.

import type { Model } from './linearizable.js';
import { judge, type Result } from './models.js';

export interface FullState {
  /** What it was put with, or the blocks it was committed from; nothing: there is no blob. */
  readonly content: string | null;
  readonly meta: string;
  readonly tag: string;
  readonly lease: 'available' | 'leased' | 'broken';
  readonly holder: string;
  /** By id. */
  readonly blocks: Readonly<Record<string, string>>;
  readonly list: readonly (readonly [id: string, content: string])[];
  /** By name, which is their own metadata. */
  readonly snapshots: Readonly<Record<string, string>>;
}

type Guarded = Readonly<{ leaseId?: string; expects?: string }>;

export type FullCall = Readonly<
  | ({ op: 'put'; meta: string; tag: string; isNew?: true } & Guarded)
  | { op: 'block'; id: string; content: string; leaseId?: string }
  | ({ op: 'commit'; ids: readonly string[]; meta: string; tag: string } & Guarded)
  | ({ op: 'meta'; meta: string } & Guarded)
  | { op: 'tag'; tag: string; leaseId?: string }
  | ({ op: 'delete'; snapshots: 'none' | 'include' | 'only' } & Guarded)
  | { op: 'snapshot' | 'read snapshot' | 'delete snapshot'; name: string }
  | { op: 'acquire' | 'renew' | 'release'; leaseId: string }
  | { op: 'break' }
  | { op: 'read' | 'block list' | 'list' }
  | { op: 'find'; tag: string }
>;

const noRow = {
  content: null,
  meta: '',
  tag: '',
  lease: 'available',
  holder: '',
  blocks: {},
  list: [],
} as const;

export const fullModel: Model<FullState, FullCall, Result> = {
  initial: { ...noRow, snapshots: {} },
  key: (state) => JSON.stringify(state),
  step(state, call, result) {
    const { refused = [], next = state, told } = outcomeOf(state, call);
    if (refused.length === 0 && told !== undefined && result !== undefined && 'ok' in result) {
      if (result.value !== told) return undefined;
    }
    return judge(refused, result, state, next);
  },
};

interface Outcome {
  readonly refused?: readonly string[];
  readonly next?: FullState;
  readonly told?: string;
}

function outcomeOf(state: FullState, call: FullCall): Outcome {
  switch (call.op) {
    case 'put':
    case 'block':
    case 'commit':
      return make(state, call);
    case 'meta':
    case 'tag':
    case 'delete':
      return change(state, call);
    case 'snapshot':
    case 'read snapshot':
    case 'delete snapshot':
      return keep(state, call);
    case 'read':
    case 'block list':
    case 'list':
    case 'find':
      return look(state, call);
    default:
      return leaseIt(state, call);
  }
}

function hasRow({ content, blocks }: FullState): boolean {
  return content !== null || Object.keys(blocks).length > 0;
}

function make(state: FullState, call: Extract<FullCall, { op: 'put' | 'block' | 'commit' }>): Outcome {
  const refused = leaseReasons(state, call.leaseId);
  const written = forgetBroken(state);
  if (call.op === 'block')
    return { refused, next: { ...written, blocks: { ...state.blocks, [call.id]: call.content } } };
  if (call.expects !== undefined && (state.content === null || state.meta !== call.expects))
    refused.push('ConditionNotMet');
  const { meta, tag } = call;
  const next = { ...written, meta, tag, blocks: {} };
  if (call.op === 'put') {
    if (call.isNew && state.content !== null) refused.push('BlobAlreadyExists', 'ConditionNotMet');
    return { refused, next: { ...next, content: meta, list: [] } };
  }
  const before = new Map([...state.list, ...Object.entries(state.blocks)]);
  if (call.ids.some((id) => !before.has(id))) refused.push('InvalidBlockList');
  const list = call.ids.map((id) => [id, before.get(id) ?? ''] as const);
  return { refused, next: { ...next, list, content: list.map(([, content]) => content).join(',') } };
}

function change(state: FullState, call: Extract<FullCall, { op: 'meta' | 'tag' | 'delete' }>): Outcome {
  if (!hasRow(state) || (state.content === null && call.op !== 'delete'))
    return { refused: ['BlobNotFound'] };
  const refused = leaseReasons(state, call.leaseId);
  // Of blocks that nobody has committed no condition is asked.
  if ('expects' in call && state.content !== null && call.expects !== state.meta)
    refused.push('ConditionNotMet');
  const written = forgetBroken(state);
  if (call.op === 'meta') return { refused, next: { ...written, meta: call.meta } };
  if (call.op === 'tag') return { refused, next: { ...written, tag: call.tag } };
  const { snapshots } = state;
  if (call.snapshots === 'only') return { refused, next: { ...state, snapshots: {} } };
  if (call.snapshots === 'include') return { refused, next: { ...noRow, snapshots: {} } };
  if (Object.keys(snapshots).length > 0) refused.push('SnapshotsPresent');
  return { refused, next: { ...noRow, snapshots } };
}

function keep(
  { ...state }: FullState,
  { op, name }: Extract<FullCall, { op: 'snapshot' | 'read snapshot' | 'delete snapshot' }>,
): Outcome {
  if (op === 'snapshot') {
    if (state.content === null) return { refused: ['BlobNotFound'] };
    return { next: { ...state, snapshots: { ...state.snapshots, [name]: state.content } } };
  }
  const { [name]: kept, ...snapshots } = state.snapshots;
  if (kept === undefined) return { refused: ['BlobNotFound'] };
  return op === 'read snapshot' ? { told: kept } : { next: { ...state, snapshots } };
}

function look(
  state: FullState,
  call: Extract<FullCall, { op: 'read' | 'block list' | 'list' | 'find' }>,
): Outcome {
  const { content, meta, tag, lease } = state;
  const ids = Object.keys(state.blocks).sort();
  switch (call.op) {
    case 'read':
      return content === null ? { refused: ['BlobNotFound'] } : { told: toldOf(content, meta, tag, lease) };
    case 'block list': {
      if (!hasRow(state)) return { refused: ['BlobNotFound'] };
      return { told: toldOf(state.list.map(([id]) => id).join(), ids.join()) };
    }
    case 'list': {
      const names = Object.keys(state.snapshots).sort().join();
      const base = content !== null ? toldOf(meta, tag, lease) : hasRow(state) ? 'uncommitted' : 'none';
      return { told: toldOf(names, base) };
    }
    case 'find':
      return { told: String(content !== null && tag === call.tag) };
  }
}

/** What a client saw, as one text. */
export function toldOf(...parts: readonly string[]): string {
  return parts.join('|');
}

function leaseReasons({ lease, holder }: FullState, leaseId: string | undefined): string[] {
  if (leaseId === undefined) return lease === 'leased' ? ['LeaseIdMissing'] : [];
  if (lease === 'available') return ['LeaseNotPresentWithBlobOperation'];
  if (leaseId !== holder) return ['LeaseIdMismatchWithBlobOperation'];
  return lease === 'leased' ? [] : ['LeaseLost'];
}

/** A write forgets a lease that is broken. */
function forgetBroken(state: FullState): FullState {
  return state.lease === 'broken' ? { ...state, lease: 'available', holder: '' } : state;
}

function leaseIt(
  state: FullState,
  call: Extract<FullCall, { op: 'acquire' | 'renew' | 'release' | 'break' }>,
): Outcome {
  const { lease, holder } = state;
  if (!hasRow(state)) return { refused: ['BlobNotFound'] };
  if (call.op === 'break') {
    if (lease === 'available') return { refused: ['LeaseNotPresentWithLeaseOperation'] };
    return { next: { ...state, lease: 'broken' } };
  }
  if (call.op === 'acquire') {
    if (lease === 'leased' && holder !== call.leaseId) return { refused: ['LeaseAlreadyPresent'] };
    return { next: { ...state, lease: 'leased', holder: call.leaseId } };
  }
  if (lease === 'available' || holder !== call.leaseId)
    return { refused: ['LeaseIdMismatchWithLeaseOperation'] };
  if (call.op === 'release') return { next: { ...state, lease: 'available', holder: '' } };
  return lease === 'broken' ? { refused: ['LeaseIsBrokenAndCannotBeRenewed'] } : {};
}
