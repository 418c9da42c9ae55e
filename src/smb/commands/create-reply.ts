// The answer to CREATE, also where a handle is given back that was open before.

import type { Cache } from '../../services/file/caches.js';
import type { FileNode } from '../../services/file/file-system.js';
import type { OpenAction } from '../../services/file/open-file.js';
import type { Call, Reply } from '../call.js';
import { type FileOpen, fileIdBytes } from '../open.js';
import {
  diskIdReply,
  makeCreateContexts,
  maximalAccessReply,
  type readCreateContexts,
} from '../wire/create-contexts.js';
import { createResponse } from '../wire/files.js';
import { allocationSize, wireId } from '../wire/info.js';
import { cacheReply } from './caching.js';

export type Contexts = ReturnType<typeof readCreateContexts>;

const actions: Record<OpenAction, number> = { superseded: 0, opened: 1, created: 2, overwritten: 3 };

export interface Created {
  readonly open: FileOpen;
  readonly node: FileNode;
  /** The most that could have been asked for. */
  readonly maximal: number;
  readonly action: OpenAction;
  readonly cache: Cache | undefined;
  /** Answers to contexts beside those that every open can have. */
  readonly contexts: readonly (readonly [string, Buffer])[];
}

/** What follows in the chain works on the file. */
export function createReply(call: Call, asked: Contexts, created: Created): Reply {
  const { open, node, action } = created;
  const fileId = fileIdBytes(open.id);
  call.chain.fileId = fileId;
  call.chain.createFailure = undefined;
  const cache = cacheReply(created.cache, asked.get('RqLs'));
  const answers = [...cache.contexts, ...answerContexts(asked, created), ...created.contexts];
  return {
    body: createResponse.make({
      ...createFields(node),
      ...{ oplockLevel: cache.level, flags: 0, action: actions[action], fileId },
      contexts: makeCreateContexts(answers),
    }),
  };
}

export function createFields(node: FileNode): {
  created: bigint;
  accessed: bigint;
  written: bigint;
  changed: bigint;
  allocated: number;
  length: number;
  attributes: number;
} {
  const { created, accessed, written, changed, length, attributes } = node;
  return { created, accessed, written, changed, length, allocated: allocationSize(node), attributes };
}

function answerContexts(asked: Contexts, { node, open, maximal }: Created): [string, Buffer][] {
  const answers: [string, Buffer][] = [];
  if (asked.has('MxAc')) answers.push(['MxAc', maximalAccessReply.make({ status: 0, access: maximal })]);
  if (asked.has('QFid')) {
    answers.push(['QFid', diskIdReply.make({ fileId: wireId(node.id), volumeId: open.volume.created })]);
  }
  return answers;
}
