// QUERY_DIRECTORY: the entries of a directory, as many as fit, going on where the last call ended. What is
// kept for a handle is a place in the order of names and one page of entries, however large the directory.

import { access } from '../../services/file/access.js';
import { type FileNode, rootId } from '../../services/file/file-system.js';
import { type Call, fileOf, needAccess, type Reply } from '../call.js';
import { hasWildcards, matchesPattern, readName } from '../names.js';
import type { FileOpen } from '../open.js';
import { Refused } from '../status.js';
import { bufferResponse, queryDirectoryRequest } from '../wire/files.js';
import { allocationSize, type EntryClass, entryClasses, wireAttributes, wireId } from '../wire/info.js';
import { align8, type Struct, utf16 } from '../wire/struct.js';
import { checkCharge, maxSize } from './sizes.js';

const restart = 1;
const single = 2;
const reopen = 0x10;
const pageSize = 256;

interface Entry {
  readonly name: string;
  readonly node: FileNode;
}

/** Where a handle is in its directory. */
export interface Listing {
  readonly pattern: string;
  /** Read and not sent yet. */
  ready: Entry[];
  /** The last name read, or that all are read. */
  after: string | undefined;
  finished: boolean;
  anySent: boolean;
}

export async function queryDirectory(call: Call): Promise<Reply> {
  const request = queryDirectoryRequest.read(call.message);
  const open = fileOf(call, request.fileId);
  if (!open.directory) throw new Refused('INVALID_PARAMETER');
  needAccess(open, access.readData);
  if (request.outputLength > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, request.outputLength);
  const layout = entryClasses[request.infoClass as EntryClass];
  if (!layout) throw new Refused('INVALID_INFO_CLASS');
  const pattern = readName(request.name);
  if (/[\\/]/.test(pattern)) throw new Refused('OBJECT_NAME_INVALID');

  const startsOver = !open.listing || (request.flags & (restart | reopen)) !== 0;
  const listing: Listing = startsOver ? newListing(open, pattern) : (open.listing as Listing);
  open.listing = listing;
  if (startsOver) await readDots(open, listing);
  const most = request.flags & single ? 1 : Number.POSITIVE_INFINITY;
  const buffer = await fill(open, listing, layout as EntryLayout, request.outputLength, most);
  return { body: bufferResponse.make({ buffer }) };
}

function newListing(open: FileOpen, pattern: string): Listing {
  const kept = pattern === '' ? (open.listing?.pattern ?? '*') : pattern;
  return { pattern: kept, ready: [], after: undefined, finished: false, anySent: false };
}

/** The directory itself and the one above it come first, in the root as well. */
async function readDots(open: FileOpen, listing: Listing): Promise<void> {
  if (!hasWildcards(listing.pattern)) {
    const node = await open.volume.child(open.file, listing.pattern);
    if (node) listing.ready.push({ name: node.name, node });
    listing.finished = true;
    return;
  }
  const node = await open.volume.node(open.file);
  const above = node && (node.id === rootId ? node : await open.volume.node(node.parent));
  if (node && matchesPattern('.', listing.pattern)) listing.ready.push({ name: '.', node });
  if (above && matchesPattern('..', listing.pattern)) listing.ready.push({ name: '..', node: above });
}

/** The next entry that matches, or nothing at the end. */
async function peek(open: FileOpen, listing: Listing): Promise<Entry | undefined> {
  while (listing.ready.length === 0 && !listing.finished) {
    const page = await open.volume.children(open.file, listing.after, pageSize);
    listing.finished = page.length < pageSize;
    listing.after = page.at(-1)?.name ?? listing.after;
    const matching = page.filter(({ name }) => matchesPattern(name, listing.pattern));
    listing.ready.push(...matching.map((node) => ({ name: node.name, node })));
  }
  return listing.ready[0];
}

type EntryLayout = Struct<Record<string, number | bigint>>;

async function fill(
  open: FileOpen,
  listing: Listing,
  layout: EntryLayout,
  room: number,
  most: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (
    let entry = await peek(open, listing);
    entry && pieces.length < most;
    entry = await peek(open, listing)
  ) {
    const piece = makeEntry(layout, entry);
    if (align8(size) + piece.length > room) break;
    pieces.push(piece);
    size = align8(size) + piece.length;
    listing.ready.shift();
  }
  if (pieces.length > 0) {
    listing.anySent = true;
    return link(pieces);
  }
  if (listing.ready.length > 0)
    throw new Refused(room >= layout.size ? 'BUFFER_OVERFLOW' : 'INFO_LENGTH_MISMATCH');
  throw new Refused(listing.anySent ? 'NO_MORE_FILES' : 'NO_SUCH_FILE');
}

/** Puts entries one after the other, each pointing to the next. */
export function link(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(
    pieces.map((piece, index) => {
      if (index === pieces.length - 1) return piece;
      const padded = Buffer.concat([piece, Buffer.alloc(align8(piece.length) - piece.length)]);
      padded.writeUInt32LE(padded.length, 0);
      return padded;
    }),
  );
}

function makeEntry(layout: EntryLayout, { name, node }: Entry): Buffer {
  const text = utf16(name);
  const head = layout.make({
    ...{ next: 0, index: 0, nameLength: text.length, fileId: wireId(node.id) },
    ...{ created: node.created, accessed: node.accessed, written: node.written, changed: node.changed },
    ...{ length: node.length, allocated: allocationSize(node), attributes: wireAttributes(node) },
  });
  return Buffer.concat([head, text]);
}
