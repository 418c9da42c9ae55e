// The commands on open files. A file id on the wire is two numbers of 64 bits, here kept as its 16 bytes.

import { body, bytes, constant, size64, struct, u8, u16, u32, u64 } from './struct.js';

const name = { offset: 'nameOffset', length: 'nameLength' } as const;

export const createRequest = body(
  {
    _structureSize: constant(u16, 57),
    securityFlags: u8,
    oplockLevel: u8,
    impersonationLevel: u32,
    smbCreateFlags: u64,
    _reserved: u64,
    desiredAccess: u32,
    fileAttributes: u32,
    shareAccess: u32,
    disposition: u32,
    options: u32,
    nameOffset: u16,
    nameLength: u16,
    contextsOffset: u32,
    contextsLength: u32,
  },
  { name, contexts: { offset: 'contextsOffset', length: 'contextsLength' } },
);

/** The times and sizes as CREATE and CLOSE answer them. */
const timesAndSizes = {
  created: u64,
  accessed: u64,
  written: u64,
  changed: u64,
  allocated: size64,
  length: size64,
  attributes: u32,
};

export const createResponse = body(
  {
    _structureSize: constant(u16, 89),
    oplockLevel: u8,
    flags: u8,
    action: u32,
    ...timesAndSizes,
    _reserved: u32,
    fileId: bytes(16),
    contextsOffset: u32,
    contextsLength: u32,
  },
  { contexts: { offset: 'contextsOffset', length: 'contextsLength', align: 8 } },
);

export const closeRequest = body(
  { _structureSize: constant(u16, 24), flags: u16, _reserved: u32, fileId: bytes(16) },
  {},
);
export const closeResponse = body(
  { _structureSize: constant(u16, 60), flags: u16, _reserved: u32, ...timesAndSizes },
  {},
);

export const flushRequest = body(
  { _structureSize: constant(u16, 24), _reserved1: u16, _reserved2: u32, fileId: bytes(16) },
  {},
);

export const readRequest = body(
  {
    _structureSize: constant(u16, 49),
    padding: u8,
    flags: u8,
    length: u32,
    offset: u64,
    fileId: bytes(16),
    minimumCount: u32,
    channel: u32,
    remainingBytes: u32,
    channelOffset: u16,
    channelLength: u16,
  },
  {},
);
/** The data follows at once: it begins at 80, a multiple of 8. */
export const readResponse = struct({
  _structureSize: constant(u16, 17),
  dataOffset: u8,
  _reserved: u8,
  dataLength: u32,
  dataRemaining: u32,
  _reserved2: u32,
});

export const writeRequest = body(
  {
    _structureSize: constant(u16, 49),
    dataOffset: u16,
    dataLength: u32,
    offset: u64,
    fileId: bytes(16),
    channel: u32,
    remainingBytes: u32,
    channelOffset: u16,
    channelLength: u16,
    flags: u32,
  },
  { data: { offset: 'dataOffset', length: 'dataLength' } },
);
export const writeResponse = body(
  {
    _structureSize: constant(u16, 17),
    _reserved: u16,
    count: u32,
    remaining: u32,
    _channelOffset: u16,
    _channelLength: u16,
  },
  {},
);

export const lockRequest = body(
  { _structureSize: constant(u16, 48), lockCount: u16, lockSequence: u32, fileId: bytes(16) },
  {},
);
export const lockElement = struct({ offset: u64, length: u64, flags: u32, _reserved: u32 });

export const ioctlRequest = body(
  {
    _structureSize: constant(u16, 57),
    _reserved: u16,
    code: u32,
    fileId: bytes(16),
    inputOffset: u32,
    inputLength: u32,
    maxInput: u32,
    outputOffset: u32,
    outputLength: u32,
    maxOutput: u32,
    flags: u32,
    _reserved2: u32,
  },
  { input: { offset: 'inputOffset', length: 'inputLength' } },
);
export const ioctlResponse = body(
  {
    _structureSize: constant(u16, 49),
    _reserved: u16,
    code: u32,
    fileId: bytes(16),
    inputOffset: u32,
    inputLength: u32,
    outputOffset: u32,
    outputLength: u32,
    flags: u32,
    _reserved2: u32,
  },
  { output: { offset: 'outputOffset', length: 'outputLength' } },
);

export const queryDirectoryRequest = body(
  {
    _structureSize: constant(u16, 33),
    infoClass: u8,
    flags: u8,
    fileIndex: u32,
    fileId: bytes(16),
    nameOffset: u16,
    nameLength: u16,
    outputLength: u32,
  },
  { name },
);

export const changeNotifyRequest = body(
  {
    _structureSize: constant(u16, 32),
    flags: u16,
    outputLength: u32,
    fileId: bytes(16),
    filter: u32,
    _reserved: u32,
  },
  {},
);

export const queryInfoRequest = body(
  {
    _structureSize: constant(u16, 41),
    infoType: u8,
    infoClass: u8,
    outputLength: u32,
    inputOffset: u16,
    _reserved: u16,
    inputLength: u32,
    additional: u32,
    flags: u32,
    fileId: bytes(16),
  },
  {},
);

/** QUERY_DIRECTORY, CHANGE_NOTIFY and QUERY_INFO answer with nothing but a buffer. */
export const bufferResponse = body(
  { _structureSize: constant(u16, 9), bufferOffset: u16, bufferLength: u32 },
  { buffer: { offset: 'bufferOffset', length: 'bufferLength' } },
);

export const setInfoRequest = body(
  {
    _structureSize: constant(u16, 33),
    infoType: u8,
    infoClass: u8,
    bufferLength: u32,
    bufferOffset: u16,
    _reserved: u16,
    additional: u32,
    fileId: bytes(16),
  },
  { buffer: { offset: 'bufferOffset', length: 'bufferLength' } },
);
export const setInfoResponse = body({ _structureSize: constant(u16, 2) }, {});

export const oplockBreak = body(
  { _structureSize: constant(u16, 24), level: u8, _reserved: u8, _reserved2: u32, fileId: bytes(16) },
  {},
);
export const leaseBreakAck = body(
  {
    _structureSize: constant(u16, 36),
    _reserved: u16,
    flags: u32,
    leaseKey: bytes(16),
    state: u32,
    _duration: u64,
  },
  {},
);
export const leaseBreakNotice = body(
  {
    _structureSize: constant(u16, 44),
    epoch: u16,
    flags: u32,
    leaseKey: bytes(16),
    currentState: u32,
    newState: u32,
    _reason: u32,
    _accessMask: u32,
    _shareMask: u32,
  },
  {},
);
