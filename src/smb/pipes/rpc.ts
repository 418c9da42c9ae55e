// DCE/RPC on a pipe: binding to an interface, calls and their answers, cut into fragments.

import { bytes, constant, struct, u8, u16, u32 } from '../wire/struct.js';
import type { PipeOwner } from './pipe.js';
import { callServerService } from './srvsvc.js';

const head = struct({
  _version: constant(u8, 5),
  _minor: u8,
  type: u8,
  flags: u8,
  representation: u32,
  fragmentLength: u16,
  _authLength: u16,
  callId: u32,
});
const bind = struct({ maxSend: u16, maxReceive: u16, group: u32, contexts: u8, _reserved: bytes(3) });
const bindContext = struct({ id: u16, transferCount: u8, _reserved: u8, abstract: bytes(16), version: u32 });
const requestHead = struct({ hint: u32, context: u16, operation: u16 });
const responseHead = struct({ hint: u32, context: u16, cancels: u16 });

const type = {
  request: 0,
  response: 2,
  fault: 3,
  bind: 11,
  bindAck: 12,
  alterContext: 14,
  alterAck: 15,
} as const;
const firstFragment = 1;
const lastFragment = 2;
const littleEndian = 0x10;
const longestFragment = 4280;
const unknownOperation = 0x1c010002;
const transferSize = 20;
const mostContexts = 16;

const serverService = Buffer.from('c84f324b7016d30112785a47bf6ee188', 'hex');
const ndr = Buffer.from('045d888aeb1cc9119fe808002b104860', 'hex');

/** The fragments that answer one fragment received; what cannot be read is answered by a fault. */
export async function answerCall(owner: PipeOwner, call: Buffer): Promise<Buffer[]> {
  const { type: kind, callId } = head.read(call);
  switch (kind) {
    case type.bind:
      return [fragment(type.bindAck, callId, bindAck(call))];
    case type.alterContext:
      return [fragment(type.alterAck, callId, bindAck(call))];
    case type.request: {
      const { operation, context } = requestHead.read(call, head.size);
      const result = await callServerService(owner, operation, call.subarray(head.size + requestHead.size));
      return result ? responses(callId, context, result) : [fault(callId, context)];
    }
    default:
      return [fault(callId, 0)];
  }
}

function fragment(kind: number, callId: number, body: Buffer, flags = firstFragment | lastFragment): Buffer {
  const fragmentLength = head.size + body.length;
  return Buffer.concat([
    head.make({ type: kind, flags, representation: littleEndian, fragmentLength, callId }),
    body,
  ]);
}

function fault(callId: number, context: number): Buffer {
  const status = Buffer.alloc(8);
  status.writeUInt32LE(unknownOperation, 0);
  return fragment(
    type.fault,
    callId,
    Buffer.concat([responseHead.make({ hint: 0, context, cancels: 0 }), status]),
  );
}

function responses(callId: number, context: number, result: Buffer): Buffer[] {
  const room = longestFragment - head.size - responseHead.size;
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < result.length; at += room) {
    const piece = result.subarray(at, at + room);
    const flags = (at === 0 ? firstFragment : 0) | (at + room >= result.length ? lastFragment : 0);
    const body = Buffer.concat([responseHead.make({ hint: result.length - at, context, cancels: 0 }), piece]);
    pieces.push(fragment(type.response, callId, body, flags));
  }
  return pieces;
}

const address = Buffer.from('\\PIPE\\srvsvc\0', 'latin1');

function bindAck(call: Buffer): Buffer {
  const { group, contexts } = bind.read(call, head.size);
  const results: Buffer[] = [];
  let at = head.size + bind.size;
  for (let index = 0; index < Math.min(contexts, mostContexts); index++) {
    const context = bindContext.read(call, at);
    const transfers = call.subarray(
      at + bindContext.size,
      at + bindContext.size + context.transferCount * transferSize,
    );
    at += bindContext.size + context.transferCount * transferSize;
    results.push(bindResult(context.abstract, transfers));
  }
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16LE(longestFragment, 0);
  fixed.writeUInt16LE(longestFragment, 2);
  fixed.writeUInt32LE(group || 0x53f0, 4);
  fixed.writeUInt16LE(address.length, 8);
  const padding = Buffer.alloc((4 - ((fixed.length + address.length) % 4)) % 4);
  return Buffer.concat([fixed, address, padding, Buffer.from([results.length, 0, 0, 0]), ...results]);
}

/** Accepted for the one interface in the one encoding; all else is refused with the reason. */
function bindResult(abstract: Buffer, transfers: Buffer): Buffer {
  const result = Buffer.alloc(4 + transferSize);
  const known = abstract.equals(serverService);
  const inNdr = transfers.subarray(0, 16).equals(ndr);
  if (known && inNdr) {
    ndr.copy(result, 4);
    result.writeUInt32LE(2, 20);
    return result;
  }
  result.writeUInt16LE(2, 0);
  result.writeUInt16LE(known ? 2 : 1, 2);
  return result;
}
