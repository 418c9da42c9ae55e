// What is new and empty.

import { availableLease } from '../common/lease.js';
import type { FileState, HttpProperties } from './model.js';

export const noHttpProperties: HttpProperties = {
  contentType: undefined,
  contentEncoding: undefined,
  contentLanguage: undefined,
  contentMd5: undefined,
  contentDisposition: undefined,
  cacheControl: undefined,
};

export const newFileState: FileState = {
  length: 0,
  map: undefined,
  http: noHttpProperties,
  lease: availableLease,
  copy: undefined,
};
