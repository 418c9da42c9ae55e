// docs/compatibility.md, made from the operation tables (scripts/compatibility.mjs writes it; a test keeps it so).

import { blobOperations } from './blob/operations.js';
import { takeApart } from './dispatch.js';
import { fileOperations } from './file/operations.js';
import type { Operation, Row } from './operation.js';
import { queueOperations } from './queue/operations.js';
import { tableOperations } from './table/operations.js';
import { newestVersion } from './versions.js';

const services: readonly (readonly [name: string, rows: readonly Row<never>[]])[] = [
  ['Blob', blobOperations],
  ['Queue', queueOperations],
  ['Table', tableOperations],
  ['File', fileOperations],
];

/** What clients of Azure Storage may ask for and is refused here, each with the answer it gets. */
const absent: readonly (readonly [what: string, why: string])[] = [
  [
    'Structured bodies (`x-ms-structured-body`)',
    'an upload that has one is refused with 400 `UnsupportedHeader`; a download is sent as it is',
  ],
  ['Query Blob Contents', 'not served: the request is refused as an unknown `comp`'],
  [
    'Encryption scopes',
    'there are none: a header that names one changes nothing; a SAS that is bound to one is good only for requests that name it',
  ],
  [
    'Change feed, object replication, lifecycle rules',
    'they belong to the management plane; nothing is written to `$blobchangefeed`',
  ],
  ['Data Lake (`dfs`) endpoint', 'port 10004 is reserved and not served'],
  ['Storage Analytics logs and metrics', 'the settings are kept and told; nothing is written to `$logs`'],
  ['Atom in the table service', 'JSON alone, as in Azure from 2015-12-11 on: 415 `AtomFormatNotSupported`'],
  ['`$orderby`, `$skip`, `$expand` in table queries', '501 `NotImplemented`, as in Azure'],
  ['NFS shares', 'the File service speaks REST and SMB'],
];

const conditionNames: Readonly<Record<string, string>> = {
  M: 'If-Match',
  N: 'If-None-Match',
  I: 'If-Modified-Since',
  U: 'If-Unmodified-Since',
  T: 'x-ms-if-tags',
};

export function compatibility(): string {
  return `${[
    '# Compatibility',
    '',
    'Made from the operation tables by `node scripts/compatibility.mjs`; a test keeps it current. Every well-formed',
    `\`x-ms-version\` is served; one newer than ${newestVersion} is served as that one. Each row is an operation that`,
    'is served; what is not there is listed at the end.',
    ...services.flatMap(([name, rows]) => [
      '',
      ...serviceTable(
        name,
        rows.map((row) => takeApart(row)),
      ),
    ]),
    '',
    '## Beyond the reference',
    '',
    'Off unless asked for, and invisible to other clients:',
    '',
    '- Get Messages with the header `x-lazuli-wait: <seconds>` (0 to 20) waits for a message where there is none.',
    '- `lazuli dead-letter` sends messages that were handed out too often to another queue (operations.md).',
    '- `lazuli index` makes an index on a property of a table; filters use it (operations.md).',
    '- `GET /api/accounts/{name}/usage` on the admin port tells what each container uses, counted exactly.',
    '- Get Blob takes `If-Range`: the range if the blob is still what the header names, else the whole.',
    '- Set Blob Expiry works on every account; Azure has it where the namespace is hierarchical.',
    '- `--smbAclMode enforce` has SMB enforce the permissions of files; in Azure a key may do everything (smb.md).',
    '',
    '## Not there',
    '',
    '| What | What happens |',
    '|---|---|',
    ...absent.map(([what, why]) => `| ${what} | ${why} |`),
  ].join('\n')}\n`;
}

function serviceTable(name: string, operations: readonly Operation<never>[]): string[] {
  return [
    `## ${name}`,
    '',
    '| Operation | Request | Told by header | Since | Account SAS | Service SAS | Conditions | Lease | Secondary |',
    '|---|---|---|---|---|---|---|---|---|',
    ...operations.map((operation) => `| ${cellsOf(operation).join(' | ')} |`),
  ];
}

function cellsOf(operation: Operation<never>): string[] {
  const { name, request, telling, since, accountSas, serviceSas, conditions, lease, on } = operation;
  return [
    name,
    `\`${request.replaceAll('|', '\\|')}\``,
    telling
      .map(([header, value]) => `\`${value === undefined ? header : `${header}: ${value}`}\``)
      .join(', '),
    since,
    accountSas === undefined
      ? 'never'
      : `${accountSas.types?.join(' or ') ?? 'any'}: ${lettersOf(accountSas)}`,
    serviceSas === undefined ? 'never' : lettersOf(serviceSas),
    [...conditions].map((letter) => conditionNames[letter]).join(', '),
    lease,
    on === 'primary' ? 'no' : on === 'both' ? 'yes' : 'only there',
  ];
}

function lettersOf({ need, letters }: { need: string; letters: string }): string {
  if (need === 'none') return 'any';
  return [...letters].join(need === 'all' ? ' and ' : ' or ');
}
