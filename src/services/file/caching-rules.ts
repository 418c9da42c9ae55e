// Oplocks and SMB leases: what a client may keep in its own cache, and what takes it away again.
//
//   R  what was read      W  what was written and not sent yet      H  handles that the program closed
//
// A classic oplock is one of these states: II = R, exclusive = RW, batch = RWH. The cell is what a holder
// is left with, marked + where the cause waits until the holder has acknowledged it:
//
//   cause                               R     RH    RW    RWH   batch
//   open                                R     RH    R+    RH+   R+
//   open that violates sharing          R     R+    RW    RW+   R+
//   open that overwrites                -     -     -+    -+    -+
//   write, resize                       -     -     -     -     -
//   lock of a range                     -     -     -     -     -
//   rename, delete, REST delete,        R     R+    RW    RW+   R+
//     REST lease
//   REST read                           R     RH    R+    RH+   R+
//   REST write                          -     -     -+    -+    -+

export const caching = { none: 0, read: 1, handle: 2, write: 4 } as const;
const { none, read, handle, write } = caching;
const rh = read | handle;
const rw = read | write;
const rwh = read | write | handle;

export type CacheKind = 'oplock' | 'lease';

// biome-ignore format: a table
const breaks = {
  //                   keeps     batch   waits for a holder that has
  open:              { keeps: rh,   batch: read, waits: write },
  sharingViolation:  { keeps: rw,   batch: read, waits: handle },
  overwrite:         { keeps: none, batch: none, waits: write },
  write:             { keeps: none, batch: none, waits: none },
  lock:              { keeps: none, batch: none, waits: none },
  renameOrDelete:    { keeps: rw,   batch: read, waits: handle },
  restRead:          { keeps: rh,   batch: read, waits: write },
  restWrite:         { keeps: none, batch: none, waits: write },
} as const;

export type BreakCause = keyof typeof breaks;

/** What a holder is left with, and whether the cause waits for it; nothing if it keeps what it has. */
export function breakFor(
  cause: BreakCause,
  kind: CacheKind,
  state: number,
): Readonly<{ to: number; wait: boolean }> | undefined {
  const row = breaks[cause];
  const keeps = kind === 'oplock' && state === rwh ? row.batch : row.keeps;
  const to = state & keeps;
  if (to === state) return undefined;
  return { to, wait: (state & row.waits) !== 0 };
}

/** Whether a cause ever waits for a holder. */
export function canWait(cause: BreakCause): boolean {
  return breaks[cause].waits !== none;
}

/** The next step of a break to less: whoever holds handles gives these up before what it has read. */
export function nextStep(state: number, to: number): number {
  return state === rh && to === none ? read : to;
}

/** Writing and locking through a handle take away its own level II too, but not what a lease of its own holds. */
export function breaksItself(cause: BreakCause, kind: CacheKind, state: number): boolean {
  return kind === 'oplock' && state === read && (cause === 'write' || cause === 'lock');
}

/** Whether a break to less is told and acknowledged, or told only: nothing but R is lost at once. */
export function breakNeedsAck(state: number): boolean {
  return state !== read;
}

/** A state that clients know, or the nearest below it. */
export function legalState(state: number): number {
  return state & read ? state & rwh : none;
}

export interface GrantContext {
  readonly kind: CacheKind;
  /** States held on the file by others: other oplocks, leases of other keys. */
  readonly others: readonly Readonly<{ kind: CacheKind; state: number }>[];
  /** Whether anybody else has the file open for more than its attributes. */
  readonly otherOpens: boolean;
  /** Whether byte ranges of the file are locked. */
  readonly locked: boolean;
}

/** The state granted to a new open that asks for `wanted`. */
export function grantState(wanted: number, file: GrantContext): number {
  if (file.locked) return none;
  let state = legalState(wanted);
  if (file.otherOpens || file.others.some((other) => other.state !== none)) state &= ~write;
  if (file.kind === 'lease' && file.others.some((other) => other.kind === 'oplock' && other.state !== none)) {
    state &= ~handle;
  }
  if (file.kind === 'oplock') {
    if (file.others.some((other) => other.kind === 'lease' && (other.state & handle) !== 0)) return none;
    return state === rw || state === rwh ? state : state & read;
  }
  return state;
}

/** A lease that is asked for again: more if the file allows all that is asked for, else what it was. */
export function upgradeState(current: number, wanted: number, granted: number): number {
  const more = legalState(wanted);
  return granted === more && (more & current) === current ? more : current;
}

/** What an open of this kind of oplock caches. */
export const oplockStates = { levelII: read, exclusive: rw, batch: rwh } as const;
