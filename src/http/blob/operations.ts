// The operations of the blob service. operation.ts tells what the columns mean.

import type { BlobService } from '../../services/blob/service.js';
import type { Row } from '../operation.js';
import { getServiceStats } from '../service-operations.js';
import {
  getAccountInformation,
  getBlobServiceProperties,
  getDelegationKey,
  setBlobServiceProperties,
} from './account.js';
import { appendBlock, appendBlockFromUrl, sealBlob } from './append-blobs.js';
import { blobBatch } from './batch.js';
import {
  deleteBlob,
  deletePermanently,
  leaseBlob,
  setBlobMetadata,
  setBlobProperties,
  snapshotBlob,
} from './blobs.js';
import { getBlockList, putBlock, putBlockFromUrl, putBlockList } from './block-blobs.js';
import {
  createContainer,
  deleteContainer,
  getContainerAcl,
  getContainerMetadata,
  getContainerProperties,
  leaseContainer,
  restoreContainer,
  setContainerAcl,
  setContainerMetadata,
} from './containers.js';
import { abortCopy, copyBlob, copyBlobFromUrl, incrementalCopy } from './copies.js';
import { getBlob, getBlobMetadata, getBlobProperties } from './get-blob.js';
import { listBlobs } from './list-blobs.js';
import { listContainers } from './list-containers.js';
import { getPageRanges, putPage, putPageFromUrl } from './page-blobs.js';
import { putAppendBlob, putBlobFromUrl, putBlockBlob, putPageBlob, putUnknownBlob } from './put-blob.js';

import {
  deleteImmutabilityPolicy,
  setBlobExpiry,
  setBlobTier,
  setImmutabilityPolicy,
  setLegalHold,
  undeleteBlob,
} from './states.js';
import { findBlobsByTags, getBlobTags, setBlobTags } from './tags.js';

const never = ['', 'none'] as const;
const own = 'blobServices';
const read = 'blobs/read';
const write = 'blobs/write|blobs/add/action';

// biome-ignore format: a table
export const blobOperations: readonly Row<BlobService>[] = [
  // name                         request                                                 telling                                      since         account    service  role                       anonymous     conditions  lease        on           handler
  ['List Containers',             'GET /?comp=list',                                      '',                                          '',           ['s:l',   'never', 'containers/read'],                      never,                   'both',      listContainers],
  ['Get Blob Service Properties', 'GET /?restype=service&comp=properties',                '',                                          '',           ['s:r',   'never', `${own}/read`],                          never,                   'both',      getBlobServiceProperties],
  ['Set Blob Service Properties', 'PUT /?restype=service&comp=properties',                '',                                          '',           ['s:w',   'never', `${own}/write`],                         never,                   'primary',   setBlobServiceProperties],
  ['Get Blob Service Stats',      'GET /?restype=service&comp=stats',                     '',                                          '2013-08-15', ['s:r',   'never', `${own}/read`],                          never,                   'secondary', getServiceStats],
  ['Get User Delegation Key',     'POST /?restype=service&comp=userdelegationkey',        '',                                          '2018-11-09', ['never', 'never', `${own}/generateUserDelegationKey/action`], never,               'primary',   getDelegationKey],
  ['Get Account Information',     'GET|HEAD /?restype=account&comp=properties',           '',                                          '2018-03-28', ['any',   'any',   'containers/read'],                      never,                   'both',      getAccountInformation],
  ['Get Account Information',     'GET|HEAD /{container}?restype=account&comp=properties', '',                                         '2018-03-28', ['any',   'any',   'containers/read'],                      never,                   'both',      getAccountInformation],
  ['Get Account Information',     'GET|HEAD /{container}/{blob}?restype=account&comp=properties', '',                                  '2018-03-28', ['any',   'any',   'containers/read'],                      never,                   'both',      getAccountInformation],
  ['Blob Batch',                  'POST /?comp=batch',                                    '',                                          '2018-11-09', ['any',   'never', 'blobs/read|blobs/write|blobs/delete'],  never,                   'primary',   blobBatch],
  // The SDK for JavaScript takes the account in a path for a container.
  ['Blob Batch',                  'POST /?restype=container&comp=batch',                  '',                                          '2018-11-09', ['any',   'never', 'blobs/read|blobs/write|blobs/delete'],  never,                   'primary',   blobBatch],
  ['Find Blobs by Tags',          'GET /?comp=blobs',                                     '',                                          '2019-12-12', ['o:f',   'never', 'blobs/filter/action'],                  never,                   'both',      findBlobsByTags],

  ['Create Container',            'PUT /{container}?restype=container',                   '',                                          '',           ['c:cw',  'never', 'containers/write'],                     never,                   'primary',   createContainer],
  ['Get Container Properties',    'GET|HEAD /{container}?restype=container',              '',                                          '',           ['c:r',   'never', 'containers/read', 'container'],         ['',      'checked'],    'both',      getContainerProperties],
  ['Get Container Metadata',      'GET|HEAD /{container}?restype=container&comp=metadata', '',                                         '',           ['c:r',   'never', 'containers/read', 'container'],         ['',      'checked'],    'both',      getContainerMetadata],
  ['Set Container Metadata',      'PUT /{container}?restype=container&comp=metadata',     '',                                          '',           ['c:w',   'never', 'containers/write'],                     ['I',     'checked'],    'primary',   setContainerMetadata],
  ['Get Container ACL',           'GET|HEAD /{container}?restype=container&comp=acl',     '',                                          '',           ['never', 'never', 'containers/getAcl/action'],             ['',      'checked'],    'both',      getContainerAcl],
  ['Set Container ACL',           'PUT /{container}?restype=container&comp=acl',          '',                                          '',           ['never', 'never', 'containers/setAcl/action'],             ['IU',    'checked'],    'primary',   setContainerAcl],
  ['Delete Container',            'DELETE /{container}?restype=container',                '',                                          '',           ['c:d',   'never', 'containers/delete'],                    ['IU',    'required'],   'primary',   deleteContainer],
  ['Lease Container',             'PUT /{container}?restype=container&comp=lease',        '',                                          '2012-02-12', ['c:wd',  'never', 'containers/write'],                     ['IU',    'none'],       'primary',   leaseContainer],
  ['Restore Container',           'PUT /{container}?restype=container&comp=undelete',     '',                                          '2019-12-12', ['c:w',   'never', 'containers/write'],                     never,                   'primary',   restoreContainer],
  ['Blob Batch in Container',     'POST /{container}?restype=container&comp=batch',       '',                                          '2020-04-08', ['any',   'any',   'blobs/read|blobs/write|blobs/delete'],  never,                   'primary',   blobBatch],
  ['Find Blobs by Tags in Container', 'GET /{container}?restype=container&comp=blobs',        '',                                          '2021-04-10', ['o:f',   'f',     'blobs/filter/action'],                  never,                   'both',      findBlobsByTags],
  ['List Blobs',                  'GET /{container}?restype=container&comp=list',         '',                                          '',           ['c:l',   'l',     read, 'container'],                      never,                   'both',      listBlobs],

  ['Put Block From URL',          'PUT /{container}/{blob}?comp=block',                   'x-ms-copy-source',                          '2018-03-28', ['o:w',   'w',     'blobs/write'],                          ['',      'required'],   'primary',   putBlockFromUrl],
  ['Put Block',                   'PUT /{container}/{blob}?comp=block',                   '',                                          '',           ['o:w',   'w',     'blobs/write'],                          ['',      'required'],   'primary',   putBlock],
  ['Put Block List',              'PUT /{container}/{blob}?comp=blocklist',               '',                                          '',           ['o:cw',  'cw',    'blobs/write'],                          ['MNIUT', 'required'],   'primary',   putBlockList],
  ['Get Block List',              'GET /{container}/{blob}?comp=blocklist',               '',                                          '',           ['o:r',   'r',     read, 'blob'],                           ['T',     'checked'],    'both',      getBlockList],
  ['Append Block From URL',       'PUT /{container}/{blob}?comp=appendblock',             'x-ms-copy-source',                          '2018-11-09', ['o:aw',  'aw',    write],                                  ['MNIUT', 'required'],   'primary',   appendBlockFromUrl],
  ['Append Block',                'PUT /{container}/{blob}?comp=appendblock',             '',                                          '2015-02-21', ['o:aw',  'aw',    write],                                  ['MNIUT', 'required'],   'primary',   appendBlock],
  ['Append Blob Seal',            'PUT /{container}/{blob}?comp=seal',                    '',                                          '2019-12-12', ['o:w',   'w',     'blobs/write'],                          ['MNIU',  'required'],   'primary',   sealBlob],

  ['Put Page From URL',           'PUT /{container}/{blob}?comp=page',                    'x-ms-copy-source',                          '2018-11-09', ['o:w',   'w',     'blobs/write'],                          ['MNIUT', 'required'],   'primary',   putPageFromUrl],
  ['Put Page',                    'PUT /{container}/{blob}?comp=page',                    '',                                          '',           ['o:w',   'w',     'blobs/write'],                          ['MNIUT', 'required'],   'primary',   putPage],
  ['Get Page Ranges',             'GET /{container}/{blob}?comp=pagelist',                '',                                          '',           ['o:r',   'r',     read, 'blob'],                           ['MNIUT', 'checked'],    'both',      getPageRanges],

  ['Put Blob From URL',           'PUT /{container}/{blob}',                              'x-ms-copy-source & x-ms-blob-type: BlockBlob', '2020-04-08', ['o:cw', 'cw',  write],                                  ['MNIUT', 'required'],   'primary',   putBlobFromUrl],
  ['Copy Blob From URL',          'PUT /{container}/{blob}',                              'x-ms-copy-source & x-ms-requires-sync: true', '2018-03-28', ['o:cw', 'cw',   write],                                  ['MNIUT', 'infinite'],   'primary',   copyBlobFromUrl],
  ['Copy Blob',                   'PUT /{container}/{blob}',                              'x-ms-copy-source',                          '',           ['o:cw',  'cw',    write],                                  ['MNIUT', 'infinite'],   'primary',   copyBlob],
  ['Put Blob',                    'PUT /{container}/{blob}',                              'x-ms-blob-type: BlockBlob',                 '',           ['o:cw',  'cw',    write],                                  ['MNIUT', 'required'],   'primary',   putBlockBlob],
  ['Put Blob',                    'PUT /{container}/{blob}',                              'x-ms-blob-type: AppendBlob',                '2015-02-21', ['o:cw',  'cw',    write],                                  ['MNIUT', 'required'],   'primary',   putAppendBlob],
  ['Put Blob',                    'PUT /{container}/{blob}',                              'x-ms-blob-type: PageBlob',                  '2009-09-19', ['o:cw',  'cw',    write],                                  ['MNIUT', 'required'],   'primary',   putPageBlob],
  ['Put Blob',                    'PUT /{container}/{blob}',                              '',                                          '',           ['o:cw',  'cw',    write],                                  ['MNIUT', 'required'],   'primary',   putUnknownBlob],
  ['Incremental Copy Blob',       'PUT /{container}/{blob}?comp=incrementalcopy',         'x-ms-copy-source',                          '2016-05-31', ['o:cw',  'cw',    write],                                  ['MNIUT', 'required'],   'primary',   incrementalCopy],
  ['Abort Copy Blob',             'PUT /{container}/{blob}?comp=copy',                    'x-ms-copy-action: abort',                   '2012-02-12', ['o:w',   'w',     'blobs/write'],                          ['',      'required'],   'primary',   abortCopy],

  ['Get Blob',                    'GET /{container}/{blob}',                              '',                                          '',           ['o:r',   'r',     read, 'blob'],                           ['MNIUT', 'checked'],    'both',      getBlob],
  ['Get Blob Properties',         'HEAD /{container}/{blob}',                             '',                                          '',           ['o:r',   'r',     read, 'blob'],                           ['MNIUT', 'checked'],    'both',      getBlobProperties],
  ['Get Blob Metadata',           'GET|HEAD /{container}/{blob}?comp=metadata',           '',                                          '',           ['o:r',   'r',     read, 'blob'],                           ['MNIUT', 'checked'],    'both',      getBlobMetadata],
  ['Set Blob Metadata',           'PUT /{container}/{blob}?comp=metadata',                '',                                          '',           ['o:w',   'w',     'blobs/write'],                          ['MNIUT', 'required'],   'primary',   setBlobMetadata],
  ['Set Blob Properties',         'PUT /{container}/{blob}?comp=properties',              '',                                          '',           ['o:w',   'w',     'blobs/write'],                          ['MNIUT', 'required'],   'primary',   setBlobProperties],
  ['Lease Blob',                  'PUT /{container}/{blob}?comp=lease',                   '',                                          '',           ['o:wd',  'wd',    'blobs/write'],                          ['MNIUT', 'none'],       'primary',   leaseBlob],
  ['Snapshot Blob',               'PUT /{container}/{blob}?comp=snapshot',                '',                                          '',           ['o:cw',  'cw',    write],                                  ['MNIUT', 'checked'],    'primary',   snapshotBlob],
  ['Get Blob Tags',               'GET /{container}/{blob}?comp=tags',                    '',                                          '2019-12-12', ['o:t',   't',     'blobs/tags/read'],                      ['T',     'checked'],    'both',      getBlobTags],
  ['Set Blob Tags',               'PUT /{container}/{blob}?comp=tags',                    '',                                          '2019-12-12', ['o:t',   't',     'blobs/tags/write'],                     ['T',     'required'],   'primary',   setBlobTags],
  ['Set Blob Tier',               'PUT /{container}/{blob}?comp=tier',                    '',                                          '2017-04-17', ['o:w',   'w',     'blobs/write'],                          ['T',     'required'],   'primary',   setBlobTier],
  ['Set Blob Expiry',             'PUT /{container}/{blob}?comp=expiry',                  '',                                          '2020-02-10', ['o:w',   'w',     'blobs/write'],                          ['MNIUT', 'required'],   'primary',   setBlobExpiry],
  ['Set Blob Immutability Policy', 'PUT /{container}/{blob}?comp=immutabilityPolicies',    '',                                          '2020-06-12', ['o:i',   'i',     'blobs/immutableStorage/runAsSuperUser/action'], ['U', 'none'],   'primary',   setImmutabilityPolicy],
  ['Delete Blob Immutability Policy', 'DELETE /{container}/{blob}?comp=immutabilityPolicies', '',                                          '2020-06-12', ['o:i',   'i',     'blobs/immutableStorage/runAsSuperUser/action'], never,         'primary',   deleteImmutabilityPolicy],
  ['Set Blob Legal Hold',         'PUT /{container}/{blob}?comp=legalhold',               '',                                          '2020-06-12', ['o:i',   'i',     'blobs/immutableStorage/runAsSuperUser/action'], never,         'primary',   setLegalHold],
  ['Undelete Blob',               'PUT /{container}/{blob}?comp=undelete',                '',                                          '2017-07-29', ['o:w',   'w',     'blobs/write'],                          never,                   'primary',   undeleteBlob],
  ['Delete Blob Permanently',     'DELETE /{container}/{blob}?deletetype=permanent',      '',                                          '2020-02-10', ['o:y',   'y',     'blobs/permanentDelete/action'],         ['MNIUT', 'required'],   'primary',   deletePermanently],
  ['Delete Blob Version',         'DELETE /{container}/{blob}?versionid',                 '',                                          '2019-12-12', ['o:x',   'x',     'blobs/deleteBlobVersion/action'],       ['MNIUT', 'required'],   'primary',   deleteBlob],
  ['Delete Blob',                 'DELETE /{container}/{blob}',                           '',                                          '',           ['o:d',   'd',     'blobs/delete'],                         ['MNIUT', 'required'],   'primary',   deleteBlob],
];
