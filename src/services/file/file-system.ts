// What the file protocols need of the store: one contract, kept by the real store and by the one that tests
// run on. A volume is a share or a snapshot of one; a node is a file or directory in it, known by its id.
//
// Rules about opens are not in here (opens.ts), nor names and paths; a volume finds children by name
// without regard to case, keeps records and bytes, and does what a transaction says all or not at all.

/** 100 ns since 1601: the resolution in which both protocols show times, kept exactly. */
export type Ticks = bigint;

export const ticksPerMs = 10_000n;
const ticksTo1970 = 116_444_736_000_000_000n;
const msTo1970 = 11_644_473_600_000;

export function ticksOf(ms: number): Ticks {
  return BigInt(Math.floor(ms * 10_000)) + ticksTo1970;
}

/** The whole milliseconds, also before 1970. */
export function msOf(ticks: Ticks): number {
  return Number(ticks / ticksPerMs) - msTo1970;
}

export interface FileNode {
  readonly id: bigint;
  /** The directory it is in; the root is its own. */
  readonly parent: bigint;
  /** Case as it was given; the root has none. */
  readonly name: string;
  readonly directory: boolean;
  /** DOS attributes; a directory always has that bit. */
  readonly attributes: number;
  readonly created: Ticks;
  readonly accessed: Ticks;
  readonly written: Ticks;
  readonly changed: Ticks;
  readonly length: number;
  /** Self-relative security descriptor; absent: the default one. */
  readonly security: Uint8Array | undefined;
  /** Whether a REST lease is held on it, or a copy to it is pending: nobody else writes or deletes it. */
  readonly leased: boolean;
}

export const rootId = 0n;

export type NodeChange = Partial<
  Pick<FileNode, 'attributes' | 'created' | 'accessed' | 'written' | 'changed' | 'security'>
>;

export interface NewNode {
  readonly parent: bigint;
  readonly name: string;
  readonly directory: boolean;
  readonly attributes: number;
  readonly security: Uint8Array | undefined;
}

/** Reads lock what they read; the function may be run again, so it touches nothing outside. */
export interface VolumeTransaction {
  readonly now: Ticks;
  get(id: bigint): Promise<FileNode | undefined>;
  child(parent: bigint, name: string): Promise<FileNode | undefined>;
  isEmpty(directory: bigint): Promise<boolean>;
  create(node: NewNode): Promise<FileNode>;
  update(id: bigint, change: NodeChange): Promise<FileNode>;
  /** Cuts or grows the contents; what is new is zeros and takes no space. */
  resize(id: bigint, length: number): Promise<FileNode>;
  move(id: bigint, parent: bigint, name: string): Promise<FileNode>;
  remove(id: bigint): Promise<void>;
}

export interface Space {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

export interface Volume {
  /** Never used again for another share: the key of the lock table. */
  readonly id: string;
  readonly name: string;
  /** A snapshot. */
  readonly readOnly: boolean;
  readonly created: Ticks;
  /** All or nothing. What it gives back may be told to a client. */
  transaction<T>(run: (tx: VolumeTransaction) => Promise<T>): Promise<T>;
  /** The same, but what changes a file resolves when its place in history is fixed: `flush` waits for the rest. */
  ordered<T>(
    run: (tx: VolumeTransaction) => Promise<T>,
    flushedOf: (result: T) => Flushed | undefined,
  ): Promise<T>;
  /** The newest state of a node, without a lock. */
  node(id: bigint): Promise<FileNode | undefined>;
  child(parent: bigint, name: string): Promise<FileNode | undefined>;
  /** Children in the order of their upper-cased names, from the one after `after`. */
  children(directory: bigint, after: string | undefined, limit: number): Promise<FileNode[]>;
  /** Bytes from `offset` on, fewer at the end of the file; the caller may not change them. */
  read(id: bigint, offset: number, length: number): Promise<Uint8Array>;
  /** Writes and sets the times; what lies between the end and `offset` becomes zeros. Whether it was written. */
  write(id: bigint, offset: number, bytes: Uint8Array, options: WriteOptions): Promise<boolean>;
  /** Makes a range zeros that take no space; never grows the file. */
  zero(id: bigint, offset: number, end: number, times: WriteOptions): Promise<void>;
  /** The ranges within these bounds that take space, in order. */
  ranges(id: bigint, offset: number, length: number): Promise<{ offset: number; length: number }[]>;
  /** Resolves when all that was answered before is on disk; not if some of it is lost, or was and `by` had written it. */
  flush(id: bigint, by?: object): Promise<void>;
  space(): Promise<Space>;
}

export interface WriteOptions {
  /** A handle may have frozen the last write time: then a write leaves it. */
  readonly keepWritten: boolean;
  /** The handle that is told with its next flush if the write is lost. */
  readonly by?: object;
  /** Only if the file ends here: for who appends, and looks again otherwise. */
  readonly ifEndsAt?: number | undefined;
}

/** A file that was changed, and who is told with its next flush if that is lost. */
export interface Flushed {
  readonly file: bigint;
  readonly by: object | undefined;
}

export interface ShareSummary {
  readonly name: string;
  readonly comment: string;
}

export interface Volumes {
  /** The share of this name without regard to case, or its snapshot of that second. */
  open(account: string, share: string, snapshot?: Ticks): Promise<Volume | undefined>;
  list(account: string): Promise<ShareSummary[]>;
  /** Newest first. */
  snapshots(account: string, share: string): Promise<Ticks[]>;
}
