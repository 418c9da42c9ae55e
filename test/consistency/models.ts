// What each kind of object promises, as small sequential machines. They are written from the reference and share
// nothing with the server.
//
// Every write has a value of its own, so a value stands for the ETag it was written with: a client that updates with
// `If-Match` says which value it means. That no ETag stands for two values is checked beside (checkETags).

import type { Recorded } from './history.js';
import type { Model } from './linearizable.js';

/** Done, with what was answered; or refused, with the code. */
export type Result = Readonly<
  | { ok: true; value?: string | null; etag?: string; lease?: string; rows?: Rows; offset?: number }
  | { code: string }
>;

export type Rows = Readonly<Record<string, string>>;

export function isOk(result: Result): result is Extract<Result, { ok: true }> {
  return 'ok' in result;
}

/** Refused for one of these reasons, where there is any; else done. */
export function judge<State>(
  reasons: readonly string[],
  result: Result | undefined,
  state: State,
  done: State,
): State | undefined {
  if (reasons.length > 0) {
    if (result === undefined) return state;
    return !isOk(result) && reasons.includes(result.code) ? state : undefined;
  }
  return result === undefined || isOk(result) ? done : undefined;
}

// A blob: its value, and who holds its lease. Leases are for ever, or for a minute that only a leap of the clock ends:
// no other time is in the model.

export interface BlobState {
  readonly value: string | null;
  readonly lease: 'available' | 'leased' | 'expired' | 'broken';
  readonly holder: string;
}

export type BlobCall = Readonly<
  | { op: 'put' | 'create'; value: string; leaseId?: string }
  | { op: 'update'; value: string; expects: string; leaseId?: string }
  | { op: 'delete'; expects?: string; leaseId?: string }
  | { op: 'read' }
  | { op: 'acquire' | 'renew' | 'release'; leaseId: string }
  | { op: 'break' }
>;

const noBlob: BlobState = { value: null, lease: 'available', holder: '' };

export const blobModel: Model<BlobState, BlobCall, Result> = {
  initial: noBlob,
  key: ({ value, lease, holder }) => `${value} ${lease} ${holder}`,
  step(state, call, result) {
    switch (call.op) {
      case 'read':
        return readBlob(state, result);
      case 'put':
      case 'create':
      case 'update':
      case 'delete':
        return writeBlob(state, call, result);
      default:
        return leaseBlob(state, call, result);
    }
  },
};

function readBlob(state: BlobState, result: Result | undefined): BlobState | undefined {
  if (result === undefined) return state;
  if (state.value === null) return !isOk(result) && result.code === 'BlobNotFound' ? state : undefined;
  return isOk(result) && result.value === state.value && result.lease === state.lease ? state : undefined;
}

function writeBlob(
  state: BlobState,
  call: Extract<BlobCall, { op: 'put' | 'create' | 'update' | 'delete' }>,
  result: Result | undefined,
): BlobState | undefined {
  const reasons: string[] = [];
  if (call.op === 'delete' && state.value === null) reasons.push('BlobNotFound');
  else {
    if (call.op === 'create' && state.value !== null) reasons.push('BlobAlreadyExists', 'ConditionNotMet');
    if ('expects' in call && call.expects !== state.value) reasons.push('ConditionNotMet');
    reasons.push(...leaseReasons(state, call.leaseId));
  }
  if (call.op === 'delete') return judge(reasons, result, state, noBlob);
  const lease = state.lease === 'leased' ? state : noBlob; // a write forgets a lease that is broken
  return judge(reasons, result, state, { ...lease, value: call.value });
}

function leaseReasons({ lease, holder }: BlobState, leaseId: string | undefined): string[] {
  if (leaseId === undefined) return lease === 'leased' ? ['LeaseIdMissing'] : [];
  if (lease === 'available') return ['LeaseNotPresentWithBlobOperation'];
  if (leaseId !== holder) return ['LeaseIdMismatchWithBlobOperation'];
  return lease === 'leased' ? [] : ['LeaseLost'];
}

function leaseBlob(
  state: BlobState,
  call: Extract<BlobCall, { op: 'acquire' | 'renew' | 'release' | 'break' }>,
  result: Result | undefined,
): BlobState | undefined {
  const { value, lease, holder } = state;
  if (value === null) return judge(['BlobNotFound'], result, state, state);
  if (call.op === 'break') {
    const reasons = lease === 'available' ? ['LeaseNotPresentWithLeaseOperation'] : [];
    return judge(reasons, result, state, { value, lease: 'broken', holder });
  }
  if (call.op === 'acquire') {
    const reasons = lease === 'leased' && holder !== call.leaseId ? ['LeaseAlreadyPresent'] : [];
    return judge(reasons, result, state, { value, lease: 'leased', holder: call.leaseId });
  }
  const reasons = holder === call.leaseId ? [] : ['LeaseIdMismatchWithLeaseOperation'];
  if (call.op === 'release') return judge(reasons, result, state, { ...noBlob, value });
  if (lease === 'broken' && reasons.length === 0) reasons.push('LeaseIsBrokenAndCannotBeRenewed');
  return judge(reasons, result, state, { value, lease: 'leased', holder });
}

/** A blob that is leased for a minute at a time, and a clock that leaps by more. */
export type TimedCall = BlobCall | Readonly<{ op: 'leap' }>;

export const timedModel: Model<BlobState, TimedCall, Result> = {
  ...blobModel,
  step(state, call, result) {
    if (call.op !== 'leap') return blobModel.step(state, call, result);
    return state.lease === 'leased' ? { ...state, lease: 'expired' } : state;
  },
};

// An append blob: its content, of which nothing may be lost, doubled, torn or moved.

export type AppendCall = Readonly<
  { op: 'make' } | { op: 'append'; chunk: string; at?: number } | { op: 'read' }
>;

export const appendModel: Model<string | null, AppendCall, Result> = {
  initial: null,
  key: String,
  step(state, call, result) {
    if (call.op === 'make') return judge([], result, state, '');
    if (call.op === 'read') {
      if (result === undefined) return state;
      const matches = isOk(result)
        ? result.value === state
        : state === null && result.code === 'BlobNotFound';
      return matches ? state : undefined;
    }
    if (state === null) return judge(['BlobNotFound'], result, state, state);
    const reasons =
      call.at !== undefined && call.at !== state.length ? ['AppendPositionConditionNotMet'] : [];
    if (result && isOk(result) && result.offset !== state.length) return undefined;
    return judge(reasons, result, state, state + call.chunk);
  },
};

// The rows of one partition, written one by one and by batches, read one by one and by queries.

export type RowWrite = Readonly<{ row: string; value: string; expects?: string }>;

export type PartitionCall = Readonly<
  | ({ op: 'upsert' | 'insert' | 'update' } & RowWrite)
  /** The value is added behind what a row was last written with, in the place of what was added before. */
  | ({ op: 'merge' } & RowWrite)
  | { op: 'delete'; row: string; expects?: string }
  | { op: 'batch'; writes: readonly RowWrite[] }
  | { op: 'read'; row: string }
  /** Of these rows all that are there, or those whose values end like that. */
  | { op: 'query'; rows: readonly string[]; ending?: string }
>;

export const partitionModel: Model<Rows, PartitionCall, Result> = {
  initial: {},
  key: showRows,
  step(state, call, result) {
    switch (call.op) {
      case 'query': {
        if (result === undefined) return state;
        const { rows, ending = '' } = call;
        const asked = Object.fromEntries(
          Object.entries(state).filter(([row, value]) => rows.includes(row) && value.endsWith(ending)),
        );
        return isOk(result) && showRows(result.rows ?? {}) === showRows(asked) ? state : undefined;
      }
      case 'read': {
        if (result === undefined) return state;
        const value = state[call.row];
        if (isOk(result)) return result.value === value ? state : undefined;
        return value === undefined && result.code === 'ResourceNotFound' ? state : undefined;
      }
      case 'batch': {
        const reasons = call.writes.flatMap((write) => rowReasons(state, { op: 'upsert', ...write }));
        const written = Object.fromEntries(call.writes.map(({ row, value }) => [row, value]));
        return judge(reasons, result, state, { ...state, ...written });
      }
      case 'merge': {
        const [written] = (state[call.row] ?? '').split('+');
        const value = `${written}+${call.value}`;
        return judge(rowReasons(state, call), result, state, { ...state, [call.row]: value });
      }
      case 'delete': {
        const { [call.row]: _, ...others } = state;
        return judge(rowReasons(state, call), result, state, others);
      }
      default:
        return judge(rowReasons(state, call), result, state, { ...state, [call.row]: call.value });
    }
  },
};

function rowReasons(state: Rows, call: { op: string; row: string; expects?: string }): string[] {
  const value = state[call.row];
  if (call.op === 'insert') return value === undefined ? [] : ['EntityAlreadyExists'];
  if (call.op !== 'update' && call.op !== 'delete' && call.expects === undefined) return [];
  if (value === undefined) return ['ResourceNotFound'];
  return call.expects !== undefined && call.expects !== value ? ['UpdateConditionNotSatisfied'] : [];
}

function showRows(rows: Rows): string {
  return Object.entries(rows)
    .map(([row, value]) => `${row}=${value}`)
    .sort()
    .join(' ');
}

// A container and one blob in it: what was in a container that was deleted is not in the next one of that name.

export interface ContainerState {
  readonly exists: boolean;
  readonly blob: string | null;
}

export type ContainerCall = Readonly<
  { op: 'create' } | { op: 'delete' } | { op: 'put'; value: string } | { op: 'read' }
>;

export const containerModel: Model<ContainerState, ContainerCall, Result> = {
  initial: { exists: false, blob: null },
  key: ({ exists, blob }) => `${exists} ${blob}`,
  step(state, call, result) {
    const missing = state.exists ? [] : ['ContainerNotFound'];
    switch (call.op) {
      case 'create':
        return judge(state.exists ? ['ContainerAlreadyExists'] : [], result, state, {
          exists: true,
          blob: null,
        });
      case 'delete':
        return judge(missing, result, state, { exists: false, blob: null });
      case 'put':
        return judge(missing, result, state, { exists: true, blob: call.value });
      case 'read': {
        const reasons = state.exists && state.blob === null ? ['BlobNotFound'] : missing;
        if (result && isOk(result) && result.value !== state.blob) return undefined;
        return judge(reasons, result, state, state);
      }
    }
  },
};

/** ETags that were seen with two values: an update that names one would not know which it means. */
export function checkETags(history: readonly Recorded[]): string[] {
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const { object, call, result } of history as readonly Recorded<{ value?: string }, Result>[]) {
    if (!result || !isOk(result) || result.etag === undefined) continue;
    const value = result.value ?? call.value;
    if (value === undefined) continue;
    const name = `${object} ${result.etag}`;
    const known = values.get(name);
    if (known === undefined) values.set(name, value);
    else if (known !== value)
      problems.push(`${object}: ETag ${result.etag} stands for ${known} and for ${value}`);
  }
  return problems;
}
