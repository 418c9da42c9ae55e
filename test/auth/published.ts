// Who may do what, as the reference has it, written down beside the operation tables so that each can be held against
// the other. Operations that are not built yet have their row already.
//
//   type       what an account SAS must be for: (s)ervice, (c)ontainer, (o)bject, `co` either of two; `any`; `-` never by an account SAS
//   account    letters of an account SAS: `cw` is c or w, `a+u` is a and u, `any` is whatever it has, `-` is never
//   service    letters of a service SAS, likewise
//   role       the least role of a bearer token; `-` never
//   anonymous  the public access that opens it

import { rows } from '#src/base/cells.suite.js';
import { blobOperations } from '#src/http/blob/operations.js';
import type { ServiceName } from '#src/http/call.js';
import { fileOperations } from '#src/http/file/operations.js';
import type { Row } from '#src/http/operation.js';
import { queueOperations } from '#src/http/queue/operations.js';
import { tableOperations } from '#src/http/table/operations.js';

const blob = `
  operation                          type   account   service   role          anonymous
  List Containers                    s      l         -         reader        -
  Get Blob Service Properties        s      r         -         reader        -
  Set Blob Service Properties        s      w         -         contributor   -
  Get Blob Service Stats             s      r         -         reader        -
  Get User Delegation Key            -      -         -         reader        -
  Get Account Information            any    any       any       reader        -
  Find Blobs by Tags                 o      f         -         owner         -
  Find Blobs by Tags in Container    o      f         f         owner         -
  Blob Batch                         any    any       -         reader        -
  Blob Batch in Container            any    any       any       reader        -
  Create Container                   c      cw        -         contributor   -
  Get Container Properties           c      r         -         reader        container
  Get Container Metadata             c      r         -         reader        container
  Set Container Metadata             c      w         -         contributor   -
  Get Container ACL                  -      -         -         owner         -
  Set Container ACL                  -      -         -         owner         -
  Delete Container                   c      d         -         contributor   -
  Restore Container                  c      w         -         contributor   -
  Lease Container                    c      wd        -         contributor   -
  List Blobs                         c      l         l         reader        container
  Put Block                          o      w         w         contributor   -
  Put Block From URL                 o      w         w         contributor   -
  Put Block List                     o      cw        cw        contributor   -
  Get Block List                     o      r         r         reader        blob
  Append Block                       o      aw        aw        contributor   -
  Append Block From URL              o      aw        aw        contributor   -
  Append Blob Seal                   o      w         w         contributor   -
  Put Page                           o      w         w         contributor   -
  Put Page From URL                  o      w         w         contributor   -
  Get Page Ranges                    o      r         r         reader        blob
  Incremental Copy Blob              o      cw        cw        contributor   -
  Copy Blob From URL                 o      cw        cw        contributor   -
  Copy Blob                          o      cw        cw        contributor   -
  Put Blob From URL                  o      cw        cw        contributor   -
  Put Blob                           o      cw        cw        contributor   -
  Abort Copy Blob                    o      w         w         contributor   -
  Get Blob                           o      r         r         reader        blob
  Get Blob Properties                o      r         r         reader        blob
  Get Blob Metadata                  o      r         r         reader        blob
  Set Blob Metadata                  o      w         w         contributor   -
  Set Blob Properties                o      w         w         contributor   -
  Set Blob Tier                      o      w         w         contributor   -
  Set Blob Expiry                    o      w         w         contributor   -
  Get Blob Tags                      o      t         t         owner         -
  Set Blob Tags                      o      t         t         owner         -
  Lease Blob                         o      wd        wd        contributor   -
  Snapshot Blob                      o      cw        cw        contributor   -
  Query Blob Contents                o      r         r         reader        -
  Delete Blob                        o      d         d         contributor   -
  Delete Blob Version                o      x         x         owner         -
  Delete Blob Permanently            o      y         y         owner         -
  Undelete Blob                      o      w         w         contributor   -
  Set Blob Immutability Policy       o      i         i         owner         -
  Delete Blob Immutability Policy    o      i         i         owner         -
  Set Blob Legal Hold                o      i         i         owner         -
`;

const queue = `
  operation                      type   account   service   role          anonymous
  List Queues                    s      l         -         reader        -
  Get Queue Service Properties   s      r         -         reader        -
  Set Queue Service Properties   s      w         -         contributor   -
  Get Queue Service Stats        s      r         -         reader        -
  Get User Delegation Key        -      -         -         reader        -
  Create Queue                   c      cw        -         contributor   -
  Delete Queue                   c      d         -         contributor   -
  Get Queue Metadata             c      r         r         reader        -
  Set Queue Metadata             c      w         -         contributor   -
  Get Queue ACL                  -      -         -         -             -
  Set Queue ACL                  -      -         -         -             -
  Put Message                    o      a         a         contributor   -
  Peek Messages                  o      r         r         reader        -
  Get Messages                   o      p         p         contributor   -
  Clear Messages                 o      d         -         contributor   -
  Delete Message                 o      p         p         contributor   -
  Update Message                 o      u         u         contributor   -
`;

const table = `
  operation                      type   account   service   role          anonymous
  Query Tables                   c      l         -         reader        -
  Create Table                   c      cw        -         contributor   -
  Delete Table                   c      d         -         contributor   -
  Get Table Service Properties   s      r         -         reader        -
  Set Table Service Properties   s      w         -         contributor   -
  Get Table Service Stats        s      r         -         reader        -
  Get User Delegation Key        -      -         -         reader        -
  Get Table ACL                  -      -         -         -             -
  Set Table ACL                  -      -         -         -             -
  Insert Entity                  o      a         a         contributor   -
  Query Entities                 o      r         r         reader        -
  Update Entity                  o      u         u         contributor   -
  Insert Or Replace Entity       o      a+u       a+u       contributor   -
  Merge Entity                   o      u         u         contributor   -
  Insert Or Merge Entity         o      a+u       a+u       contributor   -
  Delete Entity                  o      d         d         contributor   -
  Entity Group Transaction       o      any       any       reader        -
`;

const file = `
  operation                      type   account   service   role          anonymous
  List Shares                    s      l         -         reader        -
  Get File Service Properties    s      r         -         reader        -
  Set File Service Properties    s      w         -         contributor   -
  Get User Delegation Key        -      -         -         reader        -
  Create Share                   c      cw        -         contributor   -
  Get Share Properties           c      r         -         reader        -
  Get Share Metadata             c      r         -         reader        -
  Set Share Metadata             c      w         -         contributor   -
  Set Share Properties           c      w         -         contributor   -
  Get Share Stats                c      r         -         reader        -
  Get Share ACL                  -      -         -         owner         -
  Set Share ACL                  -      -         -         owner         -
  Delete Share                   c      d         -         contributor   -
  Restore Share                  c      w         -         contributor   -
  Snapshot Share                 c      cw        -         contributor   -
  Lease Share                    c      w         -         contributor   -
  Create Permission              -      -         w         contributor   -
  Get Permission                 -      -         r         reader        -
  List Directories and Files     c      l         l         reader        -
  Create Directory               o      cw        cw        contributor   -
  Get Directory Properties       o      r         r         reader        -
  Get Directory Metadata         o      r         r         reader        -
  Set Directory Metadata         o      w         w         contributor   -
  Set Directory Properties       o      w         w         contributor   -
  Delete Directory               o      d         d         contributor   -
  Rename Directory               o      cw        cw        contributor   -
  List Handles                   co     r         r         reader        -
  Force Close Handles            co     w         w         contributor   -
  Copy File                      o      cw        cw        contributor   -
  Create File                    o      cw        cw        contributor   -
  Get File                       o      r         r         reader        -
  Get File Properties            o      r         r         reader        -
  Get File Metadata              o      r         r         reader        -
  Set File Metadata              o      w         w         contributor   -
  Set File Properties            o      w         w         contributor   -
  Delete File                    o      d         d         contributor   -
  Put Range From URL             o      w         w         contributor   -
  Put Range                      o      w         w         contributor   -
  List Ranges                    o      r         r         reader        -
  Abort Copy File                o      w         w         contributor   -
  Lease File                     o      w         w         contributor   -
  Rename File                    o      cw        cw        contributor   -
  Create Symbolic Link           o      cw        cw        contributor   -
  Get Symbolic Link              o      r         r         reader        -
  Create Hard Link               o      cw        cw        contributor   -
`;

export interface Published {
  readonly operation: string;
  readonly type: string;
  readonly account: string;
  readonly service: string;
  readonly role: string;
  readonly anonymous: string;
}

function read(text: string): ReadonlyMap<string, Published> {
  const read = rows(text) as unknown as Published[];
  return new Map(read.map((row) => [row.operation, row]));
}

export const published: Readonly<Record<ServiceName, ReadonlyMap<string, Published>>> = {
  blob: read(blob),
  queue: read(queue),
  table: read(table),
  file: read(file),
};

export const operations: Readonly<Record<ServiceName, readonly Row<never>[]>> = {
  blob: blobOperations as readonly Row<never>[],
  queue: queueOperations as readonly Row<never>[],
  table: tableOperations as readonly Row<never>[],
  file: fileOperations as readonly Row<never>[],
};

/** The letters that a SAS may have at all; any other is no SAS. */
export const letters: Readonly<Record<string, string>> = {
  account: 'rwdxylacuptfi',
  container: 'racwdxyltfmeopi',
  blob: 'racwdxytmeopi',
  queue: 'raup',
  table: 'raud',
  share: 'rcwdl',
  file: 'rcwd',
};

export function fulfils(granted: string, need: string): boolean {
  if (need === 'any') return granted !== '';
  if (need.includes('+')) return need.split('+').every((letter) => granted.includes(letter));
  return [...need].some((letter) => granted.includes(letter));
}
