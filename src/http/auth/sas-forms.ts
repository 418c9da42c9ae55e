// What a SAS signs: the fields, in order, for each kind, service and version. A newer version than any
// here has the newest form.
//
// A field is a query parameter of the token, except for these:
//   account    the account's name              resource   what it is for (`/blob/account/container/name`)
//   time       `snapshot` or `versionid` of the request, where the SAS is for one of these
//   srh, srq   the headers and parameters the token names, with the values the request has
//   end        nothing: an account SAS ends in a line break
//
// What is not in the form was not signed and is not believed, with two exceptions that the resource makes
// good: `sr` and `sdd` say which part of the path is signed as the resource.

import type { ServiceName, Version } from '../call.js';

export type SasKind = 'account' | 'service' | 'delegation';

interface Form {
  readonly kind: SasKind;
  readonly services: readonly ServiceName[];
  readonly since: Version;
  readonly fields: readonly string[];
}

const headers = 'rscc rscd rsce rscl rsct';
const key = 'skoid sktid skt ske sks skv';
const keys = 'spk srk epk erk';

// biome-ignore format: a table
const forms: readonly Form[] = (
  [
    ['account',    'blob queue table file', '2015-04-05', 'account sp ss srt st se sip spr sv end'],
    ['account',    'blob queue table file', '2020-12-06', 'account sp ss srt st se sip spr sv ses end'],

    ['service',    'blob',                  '',           'sp st se resource si'],
    ['service',    'blob',                  '2012-02-12', 'sp st se resource si sv'],
    ['service',    'blob file',             '2013-08-15', `sp st se resource si sv ${headers}`],
    ['service',    'blob file',             '2015-04-05', `sp st se resource si sip spr sv ${headers}`],
    ['service',    'blob',                  '2018-11-09', `sp st se resource si sip spr sv sr time ${headers}`],
    ['service',    'blob',                  '2020-12-06', `sp st se resource si sip spr sv sr time ses ${headers}`],
    ['service',    'queue',                 '2012-02-12', 'sp st se resource si sv'],
    ['service',    'queue',                 '2015-04-05', 'sp st se resource si sip spr sv'],
    ['service',    'table',                 '2012-02-12', `sp st se resource si sv ${keys}`],
    ['service',    'table',                 '2015-04-05', `sp st se resource si sip spr sv ${keys}`],

    ['delegation', 'blob',                  '2018-11-09', `sp st se resource ${key} sip spr sv sr time ${headers}`],
    ['delegation', 'blob',                  '2020-02-10', `sp st se resource ${key} saoid suoid scid sip spr sv sr time ${headers}`],
    ['delegation', 'blob',                  '2020-12-06', `sp st se resource ${key} saoid suoid scid sip spr sv sr time ses ${headers}`],
    ['delegation', 'blob',                  '2025-07-05', `sp st se resource ${key} saoid suoid scid skdutid sduoid sip spr sv sr time ses ${headers}`],
    ['delegation', 'blob',                  '2026-04-06', `sp st se resource ${key} saoid suoid scid skdutid sduoid sip spr sv sr time ses srh srq ${headers}`],
    ['delegation', 'file',                  '2025-07-05', `sp st se resource ${key} skdutid sduoid sip spr sv ${headers}`],
    ['delegation', 'queue',                 '2025-07-05', `sp st se resource ${key} skdutid sduoid sip spr sv`],
    ['delegation', 'table',                 '2025-07-05', `sp st se resource ${key} skdutid sduoid sip spr sv ${keys}`],
  ] as const
).map(([kind, services, since, fields]) => ({
  kind, since, services: services.split(' ') as ServiceName[], fields: fields.split(' '),
}));

/** The signed fields in order; nothing if there was no such SAS in that version. */
export function signedFields(
  kind: SasKind,
  service: ServiceName,
  version: Version,
): readonly string[] | undefined {
  return forms.findLast(
    (form) => form.kind === kind && form.services.includes(service) && form.since <= version,
  )?.fields;
}

/** Every parameter a token may have. `sig` is one; `snapshot` and `versionid` belong to the request. */
export const sasParameters: ReadonlySet<string> = new Set([
  ...forms
    .flatMap((form) => form.fields)
    .filter((field) => !['account', 'resource', 'time', 'end'].includes(field)),
  ...['sig', 'sdd', 'tn', 'sr'],
]);

/** The letters `sp` may have. Clients do not keep to an order, so none is asked for. */
// biome-ignore format: a table
export const letters: Readonly<Record<string, string>> = {
  account:   'rwdxylacuptfi',
  container: 'racwdxyltfmeopi',
  blob:      'racwdxytmeopi',
  directory: 'racwdxyltfmeopi',
  queue:     'raup',
  table:     'raud',
  share:     'rcwdl',
  file:      'rcwd',
};
