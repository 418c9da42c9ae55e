// What a directory of a share promises, as a small sequential machine: files and directories below it that are made,
// listed, moved into and over each other and removed; files that are written by ranges, cleared, cut, grown, leased and
// described. The content of a file is slots of one size; a write covers one or several next to each other with one
// value. Leases of files are for ever, so that no time is in the model.
//
// Calls over SMB are in it too. A client that has a file open without sharing its deletion has it under its name, so
// its calls can be told by that name as well.

import type { Model } from './linearizable.js';
import { isOk, type Result } from './models.js';

export interface FileNode {
  readonly kind: 'file';
  /** What each slot holds; empty: nothing was written. */
  readonly slots: readonly string[];
  readonly metadata: string;
  readonly lease: 'available' | 'leased' | 'broken';
  readonly holder: string;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly children: Readonly<Record<string, Node>>;
}

export type Node = FileNode | DirectoryNode;

type Path = readonly string[];
type Leased = { readonly leaseId?: string };

export type ShareCall = Readonly<
  | ({ op: 'create'; path: Path; length: number; metadata: string } & Leased)
  | ({ op: 'put'; path: Path; from: number; to: number; value: string } & Leased)
  | ({ op: 'resize'; path: Path; length: number } & Leased)
  | ({ op: 'describe'; path: Path; metadata: string } & Leased)
  | ({ op: 'delete'; path: Path } & Leased)
  | { op: 'read'; path: Path; from: number; to: number }
  | { op: 'list' | 'make' | 'remove' | 'dump'; path: Path }
  | { op: 'ranges'; path: Path }
  | { op: 'break'; path: Path }
  | { op: 'acquire' | 'release'; path: Path; leaseId: string }
  | ({ op: 'rename'; path: Path; onto: Path; directory: boolean; replaces: boolean } & Leased)
  // Over SMB: opened, or made if it is missing; written beyond its end; moved by its handle.
  | { op: 'open'; path: Path; empties: boolean }
  | { op: 'write'; path: Path; from: number; to: number; value: string }
  | { op: 'move'; path: Path; onto: Path }
  | { op: 'look'; path: Path; from: number; to: number }
  | { op: 'unlink'; path: Path }
>;

/** What a call does to a tree, and what it would be told. */
type Outcome = Readonly<{ reasons: readonly string[] } | { tree: DirectoryNode; told?: string }>;

export const emptyTree: DirectoryNode = { kind: 'directory', children: {} };

export const shareModel: Model<DirectoryNode, ShareCall, Result> = {
  initial: emptyTree,
  key: show,
  step(tree, call, result) {
    const outcome = act(tree, call);
    if ('reasons' in outcome) {
      const isTold = result === undefined || (!isOk(result) && outcome.reasons.includes(result.code));
      return isTold ? tree : undefined;
    }
    if (result === undefined) return outcome.tree;
    const isSeen = isOk(result) && (outcome.told === undefined || outcome.told === result.value);
    return isSeen ? outcome.tree : undefined;
  },
};

/** All there is to see of it. */
export function show(node: Node): string {
  if (node.kind === 'file') return `${showFile(node)} ${node.lease} ${node.holder}`;
  const children = Object.keys(node.children).sort();
  return `{${children.map((name) => `${name}: ${show(node.children[name] as Node)}`).join(', ')}}`;
}

/** The same without the lease, which snapshots do not have. */
function dump(node: Node): string {
  if (node.kind === 'file') return showFile(node);
  const children = Object.keys(node.children).sort();
  return `{${children.map((name) => `${name}: ${dump(node.children[name] as Node)}`).join(', ')}}`;
}

export function showFile({ slots, metadata }: Pick<FileNode, 'slots' | 'metadata'>): string {
  return `${slots.length} [${slots.join('|')}] ${metadata}`;
}

export function showList(children: readonly (readonly [name: string, length: number | undefined])[]): string {
  return children
    .map(([name, length]) => (length === undefined ? `${name}/` : `${name} ${length}`))
    .join(', ');
}

export function showSlots(slots: readonly string[], from: number, to: number): string {
  return `${slots.slice(from, to).join('|')} of ${slots.length}`;
}

export function showRanges(slots: readonly boolean[]): string {
  return slots.map((isWritten) => (isWritten ? 'x' : '.')).join('');
}

const missing = ['ResourceNotFound', 'NameNotFound'];
const noParent = ['ParentNotFound', 'PathNotFound'];
const wrongKind = ['ResourceTypeMismatch', 'IsADirectory', 'NotADirectory'];

function act(tree: DirectoryNode, call: ShareCall): Outcome {
  const parent = find(tree, call.path.slice(0, -1));
  if (parent?.kind !== 'directory' && call.op !== 'rename') return { reasons: noParent };
  const node = find(tree, call.path);
  switch (call.op) {
    case 'list':
      return node?.kind === 'directory' ? { tree, told: listOf(node) } : { reasons: missing };
    case 'dump':
      return node === undefined ? { reasons: missing } : { tree, told: dump(node) };
    case 'make':
      if (node !== undefined) return { reasons: ['ResourceAlreadyExists'] };
      return { tree: put(tree, call.path, emptyTree) };
    case 'remove':
      return removeDirectory(tree, call.path, node);
    case 'rename':
      return rename(tree, call, node);
    case 'create':
      return createFile(tree, call, node);
    case 'open':
      return openFile(tree, call, node);
    default:
      if (node === undefined) return { reasons: missing };
      return node.kind === 'file' ? actOnFile(tree, call, node) : { reasons: wrongKind };
  }
}

type OnFile = Exclude<ShareCall, { op: 'list' | 'dump' | 'make' | 'remove' | 'rename' | 'create' | 'open' }>;

function actOnFile(tree: DirectoryNode, call: OnFile, file: FileNode): Outcome {
  const become = (next: Partial<FileNode>, from = file) => put(tree, call.path, { ...from, ...next });
  switch (call.op) {
    case 'read':
      return { tree, told: `${showSlots(file.slots, call.from, call.to)} ${file.metadata}` };
    case 'look':
      return { tree, told: file.slots.slice(call.from, call.to).join('|') };
    case 'ranges':
      return { tree, told: showRanges(file.slots.map((slot) => slot !== '')) };
    case 'write': {
      const grown = resized(file.slots, Math.max(file.slots.length, call.to));
      return { tree: become({ slots: written(grown, call) }) };
    }
    case 'move':
      return move(tree, call.path, call.onto, file);
    case 'unlink':
      return { tree: put(tree, call.path, undefined) };
    case 'acquire':
    case 'release':
    case 'break':
      return leaseFile(call, file, become);
    default: {
      const reasons = leaseReasons(file, call.leaseId);
      if (call.op === 'put' && call.to > file.slots.length) reasons.push('InvalidRange');
      if (reasons.length > 0) return { reasons };
      return {
        tree:
          call.op === 'delete'
            ? put(tree, call.path, undefined)
            : become(changed(call, file), forgotten(file)),
      };
    }
  }
}

function changed(
  call: Extract<ShareCall, { op: 'put' | 'resize' | 'describe' }>,
  file: FileNode,
): Partial<FileNode> {
  if (call.op === 'put') return { slots: written(file.slots, call) };
  if (call.op === 'resize') return { slots: resized(file.slots, call.length) };
  return { metadata: call.metadata };
}

function written(
  slots: readonly string[],
  { from, to, value }: { readonly from: number; readonly to: number; readonly value: string },
): string[] {
  return slots.map((slot, index) => (index >= from && index < to ? value : slot));
}

function resized(slots: readonly string[], length: number): string[] {
  return Array.from({ length }, (_, index) => slots[index] ?? '');
}

function createFile(
  tree: DirectoryNode,
  { path, length, metadata, leaseId }: Extract<ShareCall, { op: 'create' }>,
  node: Node | undefined,
): Outcome {
  if (node?.kind === 'directory') return { reasons: wrongKind };
  const reasons = leaseReasons(node, leaseId);
  if (reasons.length > 0) return { reasons };
  return { tree: put(tree, path, { ...forgotten(node ?? newFile), slots: resized([], length), metadata }) };
}

function openFile(
  tree: DirectoryNode,
  { path, empties }: Extract<ShareCall, { op: 'open' }>,
  node: Node | undefined,
): Outcome {
  if (node?.kind === 'directory') return { reasons: wrongKind };
  const opened = node === undefined ? newFile : empties ? { ...node, slots: [] } : node;
  return { tree: put(tree, path, opened) };
}

function removeDirectory(tree: DirectoryNode, path: Path, node: Node | undefined): Outcome {
  if (node === undefined) return { reasons: missing };
  if (node.kind === 'file') return { reasons: wrongKind };
  if (Object.keys(node.children).length > 0) return { reasons: ['DirectoryNotEmpty'] };
  return { tree: put(tree, path, undefined) };
}

function rename(
  tree: DirectoryNode,
  { path, onto, directory, replaces, leaseId }: Extract<ShareCall, { op: 'rename' }>,
  node: Node | undefined,
): Outcome {
  const reasons: string[] = [];
  if (find(tree, onto.slice(0, -1))?.kind !== 'directory') reasons.push(...noParent);
  if (node === undefined) return { reasons: [...reasons, ...missing] };
  if (directory !== (node.kind === 'directory')) return { reasons: [...reasons, ...wrongKind] };
  if (node.kind === 'file') reasons.push(...leaseReasons(node, leaseId));
  else if (startsWith(onto.slice(0, -1), path)) reasons.push('InvalidInput');
  const target = find(tree, onto);
  if (target !== undefined && onto.join('/') !== path.join('/')) {
    if (!replaces || target.kind === 'directory') reasons.push('ResourceAlreadyExists');
    else reasons.push(...leaseReasons(target, undefined));
  }
  if (reasons.length > 0) return { reasons };
  const moved = node.kind === 'file' ? forgotten(node) : node;
  return { tree: put(put(tree, path, undefined), onto, moved) };
}

function move(tree: DirectoryNode, path: Path, onto: Path, file: FileNode): Outcome {
  if (find(tree, onto.slice(0, -1))?.kind !== 'directory') return { reasons: noParent };
  const target = find(tree, onto);
  if (target?.kind === 'directory') return { reasons: ['AccessDenied'] };
  return { tree: put(put(tree, path, undefined), onto, file) };
}

function leaseFile(
  call: Extract<ShareCall, { op: 'acquire' | 'release' | 'break' }>,
  { lease, holder }: FileNode,
  become: (next: Partial<FileNode>) => DirectoryNode,
): Outcome {
  if (call.op === 'break') {
    if (lease === 'available') return { reasons: ['LeaseNotPresentWithLeaseOperation'] };
    return { tree: become({ lease: 'broken' }) };
  }
  if (call.op === 'acquire') {
    if (lease === 'leased' && holder !== call.leaseId) return { reasons: ['LeaseAlreadyPresent'] };
    return { tree: become({ lease: 'leased', holder: call.leaseId }) };
  }
  if (lease === 'available' || holder !== call.leaseId)
    return { reasons: ['LeaseIdMismatchWithLeaseOperation'] };
  return { tree: become({ lease: 'available', holder: '' }) };
}

/** A lease that is over is as if it had never been, whatever id is named. */
function leaseReasons(node: Node | undefined, leaseId: string | undefined): string[] {
  if (node?.kind !== 'file' || node.lease !== 'leased') {
    return leaseId === undefined ? [] : ['LeaseNotPresentWithFileOperation'];
  }
  if (leaseId === undefined) return ['LeaseIdMissing'];
  return leaseId === node.holder ? [] : ['LeaseIdMismatchWithFileOperation'];
}

/** A write over REST forgets a lease that is broken. */
function forgotten(file: FileNode): FileNode {
  return file.lease === 'leased' ? file : { ...file, lease: 'available', holder: '' };
}

const newFile: FileNode = { kind: 'file', slots: [], metadata: '', lease: 'available', holder: '' };

function listOf({ children }: DirectoryNode): string {
  const names = Object.keys(children).sort();
  return showList(
    names.map((name) => {
      const node = children[name];
      return [name, node?.kind === 'file' ? node.slots.length : undefined];
    }),
  );
}

function find(tree: DirectoryNode, path: Path): Node | undefined {
  let node: Node | undefined = tree;
  for (const name of path) node = node?.kind === 'directory' ? node.children[name] : undefined;
  return node;
}

/** The tree with this node under the path, or without any. */
function put(tree: DirectoryNode, [name = '', ...rest]: Path, node: Node | undefined): DirectoryNode {
  const { [name]: old, ...others } = tree.children;
  const next = rest.length === 0 ? node : put(old as DirectoryNode, rest, node);
  return { kind: 'directory', children: next === undefined ? others : { ...others, [name]: next } };
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((name, index) => path[index] === name);
}
