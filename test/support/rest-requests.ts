// Requests of REST on a file that an SMB client has open, and what share modes make of them.

import { share as shareMode } from '#src/services/file/access.js';
import { type Given, given } from './given-file.js';
import { gives } from './server.js';
import type { WireAnswer } from './wire.js';

/** Requests on a file of 11 bytes, each with its success. */
export const requests: Readonly<Record<string, (given: Given) => Promise<WireAnswer>>> = {
  'Create File': ({ file }) => file.create(5),
  'Copy onto': ({ file, share }) => file.copyFrom(share.file('source')),
  'Copy source': ({ file, share }) => share.file('target').copyFrom(file),
  'Get File': ({ file }) => file.get(),
  'List Ranges': ({ file }) => file.get('comp=rangelist'),
  'Put Range': ({ file }) => file.write('x'),
  'Clear Range': ({ file }) => file.clear(0, 0),
  'Put Range From URL': ({ file, share }) =>
    file.put('comp=range', {
      'x-ms-copy-source': share.file('source').url,
      'x-ms-source-range': 'bytes=0-4',
      'x-ms-range': 'bytes=0-4',
      'x-ms-write': 'update',
    }),
  'Set Properties': ({ file }) => file.setProperties({ 'x-ms-content-type': 'text/plain' }),
  Resize: ({ file }) => file.setProperties({ 'x-ms-content-length': '20' }),
  'Set Metadata': ({ file }) => file.setMetadata({ 'x-ms-meta-a': 'b' }),
  'Delete File': ({ file }) => file.delete(),
  Lease: ({ file }) => file.acquire(),
  'Get Properties': ({ file }) => file.head(),
  'Get Metadata': ({ file }) => file.get('comp=metadata'),
  List: ({ share }) => share.root.list(),
  'Rename source': ({ file, share }) => share.file('renamed').renameFrom(file),
  'Replace by rename': ({ file, share }) =>
    file.renameFrom(share.file('source'), { 'x-ms-file-rename-replace-if-exists': 'true' }),
};

export const request = (name: string) => requests[name] as (given: Given) => Promise<WireAnswer>;

export async function givenFile(
  t: Parameters<typeof given>[0],
  more: Partial<Parameters<typeof given>[1]> = {},
) {
  const it = await given(t, { file: 'a.txt', ...more });
  await gives(it.share.file('source').create(5), 201);
  await gives(it.share.file('source').write('12345'), 201);
  return { ...it, id: await it.file.id() };
}

export function outcome(answer: WireAnswer): string {
  if (answer.status < 300) return 'ok';
  return `${answer.status} ${answer.headers.get('x-ms-error-code')}`;
}

const modes = { none: 0, R: shareMode.read, W: shareMode.write, D: shareMode.delete } as const;

export function modeOf(text: string): number {
  return text === 'none' ? 0 : [...text].reduce((sum, letter) => sum | modes[letter as 'R'], 0);
}

export const violation = '409 SharingViolation';

// X is 409 SharingViolation. The client has the file open with all rights.
export const sharing = `
         Create File  Copy onto  Copy source  Get File  List Ranges  Put Range  Set Properties  Set Metadata  Delete File  Lease  Get Properties  Get Metadata  List
  none   X            X          X            X         X            X          X               X             X            X      ok              ok            ok
  R      X            X          ok           ok        ok           X          X               X             X            X      ok              ok            ok
  W      X            X          X            X         X            ok         ok              ok            X            X      ok              ok            ok
  D      X            X          X            X         X            X          X               X             X            X      ok              ok            ok
  RW     X            X          ok           ok        ok           ok         ok              ok            X            X      ok              ok            ok
  RD     X            X          ok           ok        ok           X          X               X             X            X      ok              ok            ok
  WD     ok           ok         X            X         X            ok         ok              ok            X            X      ok              ok            ok
  RWD    ok           ok         ok           ok        ok           ok         ok              ok            X            X      ok              ok            ok
`;
