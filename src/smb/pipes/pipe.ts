// Named pipes of IPC$: what is written is one call, its answer is read in as many pieces as the client
// likes. There is one service, srvsvc, by which clients list shares.

import type { ServerContext } from '../server.js';
import { Refused } from '../status.js';
import { answerCall } from './rpc.js';

export interface PipeOwner {
  readonly server: ServerContext;
  readonly account: string;
}

const longestAnswer = 4 * 1024 * 1024;

export class Pipe {
  readonly #owner: PipeOwner;
  /** Answers not read yet: whole fragments, each read at most once. */
  #answers: Buffer[] = [];

  constructor(owner: PipeOwner) {
    this.#owner = owner;
  }

  async write(call: Buffer): Promise<void> {
    const answers = await answerCall(this.#owner, Buffer.from(call));
    this.#answers.push(...answers);
    if (this.waiting.bytes > longestAnswer) throw new Refused('INSUFFICIENT_RESOURCES');
  }

  /** What is there to read. */
  get waiting(): { bytes: number; messages: number } {
    const bytes = this.#answers.reduce((sum, { length }) => sum + length, 0);
    return { bytes, messages: this.#answers.length };
  }

  /** The next piece of an answer; `more`: the same message goes on. */
  read(length: number): { data: Buffer; more: boolean } {
    const first = this.#answers.shift();
    if (!first) throw new Refused('PIPE_EMPTY');
    if (first.length <= length) return { data: first, more: false };
    this.#answers.unshift(first.subarray(length));
    return { data: first.subarray(0, length), more: true };
  }
}

export function knownPipe(name: string): boolean {
  return name.replace(/^\\/, '').toLowerCase() === 'srvsvc';
}

export function openPipe(name: string, owner: PipeOwner): Pipe | undefined {
  return knownPipe(name) ? new Pipe(owner) : undefined;
}
