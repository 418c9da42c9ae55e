// Directories on the wire.

import * as directories from '../../services/file/directories.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { addMetadata, metadataOf, stampHeaders } from '../headers.js';
import { encryptedRequest, smbHeaders, writtenHeaders } from './file-headers.js';
import { readTarget, writeTarget } from './requests.js';
import { smbRequest } from './smb-headers.js';

export async function createDirectory(call: Call, service: FileService): Promise<Answer> {
  const { wishes } = smbRequest(call, 'create', true);
  const made = await directories.createDirectory(service, writeTarget(call), wishes, metadataOf(call));
  return { status: 201, headers: writtenHeaders(made, call.version) };
}

export async function getDirectoryProperties(call: Call, service: FileService): Promise<Answer> {
  const entry = await directories.getDirectory(service, readTarget(call));
  const headers = [
    ...stampHeaders(entry.stamp),
    ...['x-ms-server-encrypted', 'true'],
    ...smbHeaders(entry, call.version),
  ];
  addMetadata(headers, entry.metadata);
  return { status: 200, headers };
}

export async function getDirectoryMetadata(call: Call, service: FileService): Promise<Answer> {
  const entry = await directories.getDirectory(service, readTarget(call));
  const headers = stampHeaders(entry.stamp);
  addMetadata(headers, entry.metadata);
  return { status: 200, headers };
}

export async function setDirectoryMetadata(call: Call, service: FileService): Promise<Answer> {
  const entry = await directories.setDirectoryMetadata(service, writeTarget(call), metadataOf(call));
  return { status: 200, headers: [...stampHeaders(entry.stamp), ...encryptedRequest] };
}

export async function setDirectoryProperties(call: Call, service: FileService): Promise<Answer> {
  const { wishes } = smbRequest(call, 'set', true);
  const entry = await directories.setDirectoryProperties(service, writeTarget(call), wishes);
  return { status: 200, headers: writtenHeaders(entry, call.version) };
}

export async function deleteDirectory(call: Call, service: FileService): Promise<Answer> {
  await directories.deleteDirectory(service, writeTarget(call));
  return { status: 202, headers: [] };
}
