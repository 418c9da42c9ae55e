// The operations of the file service. operation.ts tells what the columns mean.

import { invalidParameter } from '../../services/common/errors.js';
import type { FileService } from '../../services/file/service.js';
import type { Call } from '../call.js';
import type { Row } from '../operation.js';
import { getServiceProperties, type PropertiesStore, setServiceProperties } from '../service-operations.js';
import { getUserDelegationKey } from '../user-delegation-key.js';
import { abortCopy, copyFile } from './copies.js';
import {
  createDirectory,
  deleteDirectory,
  getDirectoryMetadata,
  getDirectoryProperties,
  setDirectoryMetadata,
  setDirectoryProperties,
} from './directories.js';
import {
  createFile,
  deleteFile,
  getFileMetadata,
  getFileProperties,
  leaseFile,
  setFileMetadata,
  setFileProperties,
} from './files.js';
import { getFile } from './get-file.js';
import { forceCloseHandles, listHandles } from './handles.js';
import { listDirectory } from './list-directory.js';
import { listShares } from './list-shares.js';
import { createPermission, getPermission } from './permissions.js';
import { listRanges, putRange, putRangeFromUrl } from './ranges.js';
import { renameDirectory, renameFile } from './renames.js';
import {
  createShare,
  deleteShare,
  getShareAcl,
  getShareMetadata,
  getShareProperties,
  getShareStats,
  leaseShare,
  restoreShare,
  setShareAcl,
  setShareMetadata,
  setShareProperties,
  snapshot,
} from './shares.js';

function properties({ accounts }: FileService): PropertiesStore {
  return {
    read: (account) => accounts.serviceSettings(account, 'file'),
    change: (account, change) => accounts.changeServiceSettings(account, 'file', change),
  };
}

const getProperties = (call: Call, service: FileService) => getServiceProperties(call, properties(service));
const setProperties = (call: Call, service: FileService) => setServiceProperties(call, properties(service));
const delegationKey = (
  call: Call,
  { accounts }: FileService,
  identity: Parameters<typeof getUserDelegationKey>[2],
) => getUserDelegationKey(call, accounts.secret(call.account), identity);

/** Links are for shares that speak NFS, and there are none. */
function refuseLink(call: Call): never {
  throw invalidParameter('restype', call.query.get('restype') ?? '');
}

const never = ['', 'none'] as const;
const checked = ['', 'checked'] as const;
const required = ['', 'required'] as const;
const read = 'files/read|readFileBackupSemantics/action';
const write = 'files/write|writeFileBackupSemantics/action';
const remove = 'files/delete|writeFileBackupSemantics/action';

// biome-ignore format: a table
export const fileOperations: readonly Row<FileService>[] = [
  // name                          request                                                telling             since         account    service  role                  guards    on         handler
  ['List Shares',                  'GET /?comp=list',                                     '',                 '',           ['s:l',   'never', 'shares/read'],       never,    'both',    listShares],
  ['Get File Service Properties',  'GET /?restype=service&comp=properties',               '',                 '',           ['s:r',   'never', 'fileServices/read'], never,    'both',    getProperties],
  ['Set File Service Properties',  'PUT /?restype=service&comp=properties',               '',                 '',           ['s:w',   'never', 'fileServices/write'], never,   'primary', setProperties],
  ['Get User Delegation Key',      'POST /?restype=service&comp=userdelegationkey',       '',                 '2025-07-05', ['never', 'never', 'fileServices/generateUserDelegationKey/action'], never, 'primary', delegationKey],

  ['Create Share',                 'PUT /{share}?restype=share',                          '',                 '',           ['c:cw',  'never', 'shares/write'],      never,    'primary', createShare],
  ['Get Share Properties',         'GET|HEAD /{share}?restype=share',                     '',                 '',           ['c:r',   'never', 'shares/read'],       checked,  'both',    getShareProperties],
  ['Get Share Metadata',           'GET|HEAD /{share}?restype=share&comp=metadata',       '',                 '',           ['c:r',   'never', 'shares/read'],       checked,  'both',    getShareMetadata],
  ['Set Share Metadata',           'PUT /{share}?restype=share&comp=metadata',            '',                 '',           ['c:w',   'never', 'shares/write'],      required, 'primary', setShareMetadata],
  ['Set Share Properties',         'PUT /{share}?restype=share&comp=properties',          '',                 '',           ['c:w',   'never', 'shares/write'],      required, 'primary', setShareProperties],
  ['Get Share Stats',              'GET|HEAD /{share}?restype=share&comp=stats',          '',                 '',           ['c:r',   'never', 'shares/read'],       checked,  'both',    getShareStats],
  ['Get Share ACL',                'GET|HEAD /{share}?restype=share&comp=acl',            '',                 '',           ['never', 'never', 'shares/getAcl/action'], checked, 'both',  getShareAcl],
  ['Set Share ACL',                'PUT /{share}?restype=share&comp=acl',                 '',                 '',           ['never', 'never', 'shares/setAcl/action'], required, 'primary', setShareAcl],
  ['Delete Share',                 'DELETE /{share}?restype=share',                       '',                 '',           ['c:d',   'never', 'shares/delete'],     required, 'primary', deleteShare],
  ['Restore Share',                'PUT /{share}?restype=share&comp=undelete',            '',                 '2019-12-12', ['c:w',   'never', 'shares/write'],      never,    'primary', restoreShare],
  ['Snapshot Share',               'PUT /{share}?restype=share&comp=snapshot',            '',                 '2017-04-17', ['c:cw',  'never', 'shares/write'],      never,    'primary', snapshot],
  ['Lease Share',                  'PUT /{share}?restype=share&comp=lease',               '',                 '2020-02-10', ['c:w',   'never', 'shares/write'],      never,    'primary', leaseShare],
  ['Create Permission',            'PUT /{share}?restype=share&comp=filepermission',      '',                 '2019-02-02', ['never', 'w',     write],               never,    'primary', createPermission],
  ['Get Permission',               'GET /{share}?restype=share&comp=filepermission',      '',                 '2019-02-02', ['never', 'r',     read],                never,    'both',    getPermission],

  ['List Directories and Files',   'GET /{share}/{path}?restype=directory&comp=list',     '',                 '',           ['c:l',   'l',     read],                never,    'both',    listDirectory],
  ['Create Directory',             'PUT /{share}/{path}?restype=directory',               '',                 '',           ['o:cw',  'cw',    write],               never,    'primary', createDirectory],
  ['Get Directory Properties',     'GET|HEAD /{share}/{path}?restype=directory',          '',                 '',           ['o:r',   'r',     read],                never,    'both',    getDirectoryProperties],
  ['Get Directory Metadata',       'GET|HEAD /{share}/{path}?restype=directory&comp=metadata', '',            '',           ['o:r',   'r',     read],                never,    'both',    getDirectoryMetadata],
  ['Set Directory Metadata',       'PUT /{share}/{path}?restype=directory&comp=metadata', '',                 '',           ['o:w',   'w',     write],               never,    'primary', setDirectoryMetadata],
  ['Set Directory Properties',     'PUT /{share}/{path}?restype=directory&comp=properties', '',               '2019-02-02', ['o:w',   'w',     write],               never,    'primary', setDirectoryProperties],
  ['Delete Directory',             'DELETE /{share}/{path}?restype=directory',            '',                 '',           ['o:d',   'd',     remove],              never,    'primary', deleteDirectory],
  ['Rename Directory',             'PUT /{share}/{path}?restype=directory&comp=rename',   '',                 '2021-04-10', ['o:cw',  'cw',    write],               never,    'primary', renameDirectory],

  ['List Handles',                 'GET /{share}?comp=listhandles',                       '',                 '2018-11-09', ['co:r',  'r',     read],                never,    'both',    listHandles],
  ['List Handles',                 'GET /{share}/{path}?comp=listhandles',                '',                 '2018-11-09', ['co:r',  'r',     read],                never,    'both',    listHandles],
  ['List Handles',                 'GET /{share}/{path}?restype=directory&comp=listhandles', '',              '2018-11-09', ['co:r',  'r',     read],                never,    'both',    listHandles],
  ['Force Close Handles',          'PUT /{share}?comp=forceclosehandles',                 '',                 '2018-11-09', ['co:w',  'w',     write],               never,    'primary', forceCloseHandles],
  ['Force Close Handles',          'PUT /{share}/{path}?comp=forceclosehandles',          '',                 '2018-11-09', ['co:w',  'w',     write],               never,    'primary', forceCloseHandles],
  ['Force Close Handles',          'PUT /{share}/{path}?restype=directory&comp=forceclosehandles', '',        '2018-11-09', ['co:w',  'w',     write],               never,    'primary', forceCloseHandles],

  ['Copy File',                    'PUT /{share}/{path}',                                 'x-ms-copy-source', '',           ['o:cw',  'cw',    write],               required, 'primary', copyFile],
  ['Create File',                  'PUT /{share}/{path}',                                 '',                 '',           ['o:cw',  'cw',    write],               required, 'primary', createFile],
  ['Get File',                     'GET /{share}/{path}',                                 '',                 '',           ['o:r',   'r',     read],                checked,  'both',    getFile],
  ['Get File Properties',          'HEAD /{share}/{path}',                                '',                 '',           ['o:r',   'r',     read],                checked,  'both',    getFileProperties],
  ['Get File Metadata',            'GET|HEAD /{share}/{path}?comp=metadata',              '',                 '',           ['o:r',   'r',     read],                checked,  'both',    getFileMetadata],
  ['Set File Metadata',            'PUT /{share}/{path}?comp=metadata',                   '',                 '',           ['o:w',   'w',     write],               required, 'primary', setFileMetadata],
  ['Set File Properties',          'PUT /{share}/{path}?comp=properties',                 '',                 '',           ['o:w',   'w',     write],               required, 'primary', setFileProperties],
  ['Delete File',                  'DELETE /{share}/{path}',                              '',                 '',           ['o:d',   'd',     remove],              required, 'primary', deleteFile],
  ['Put Range From URL',           'PUT /{share}/{path}?comp=range',                      'x-ms-copy-source', '2019-02-02', ['o:w',   'w',     write],               required, 'primary', putRangeFromUrl],
  ['Put Range',                    'PUT /{share}/{path}?comp=range',                      '',                 '',           ['o:w',   'w',     write],               required, 'primary', putRange],
  ['List Ranges',                  'GET /{share}/{path}?comp=rangelist',                  '',                 '',           ['o:r',   'r',     read],                checked,  'both',    listRanges],
  ['Abort Copy File',              'PUT /{share}/{path}?comp=copy',                       '',                 '',           ['o:w',   'w',     write],               required, 'primary', abortCopy],
  ['Lease File',                   'PUT /{share}/{path}?comp=lease',                      '',                 '2019-07-07', ['o:w',   'w',     write],               never,    'primary', leaseFile],
  ['Rename File',                  'PUT /{share}/{path}?comp=rename',                     '',                 '2021-04-10', ['o:cw',  'cw',    write],               required, 'primary', renameFile],
  ['Create Symbolic Link',         'PUT /{share}/{path}?restype=symboliclink',            '',                 '2025-05-05', ['o:cw',  'cw',    write],               never,    'primary', refuseLink],
  ['Get Symbolic Link',            'GET /{share}/{path}?restype=symboliclink',            '',                 '2025-05-05', ['o:r',   'r',     read],                never,    'both',    refuseLink],
  ['Create Hard Link',             'PUT /{share}/{path}?restype=hardlink',                '',                 '2025-05-05', ['o:cw',  'cw',    write],               never,    'primary', refuseLink],
];
