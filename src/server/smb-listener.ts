// The port of SMB. What answers there is loaded with the first connection: few servers ever see one.

import { createServer, type Server, type Socket } from 'node:net';
import type { AclMode, SmbServer } from '../smb/server.js';
import type { OpenStore } from './open-store.js';

export class SmbListener {
  readonly #store: OpenStore;
  readonly #aclMode: AclMode | undefined;
  readonly #report: (error: unknown) => void;
  readonly #server: Server;
  readonly #waiting = new Set<Socket>();
  #smb: Promise<SmbServer> | undefined;

  constructor(store: OpenStore, aclMode: AclMode | undefined, report: (error: unknown) => void) {
    this.#store = store;
    this.#aclMode = aclMode;
    this.#report = report;
    this.#server = createServer({ pauseOnConnect: true }, (socket) => void this.#take(socket));
  }

  /** Gives back the port, which for 0 is a free one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#waiting) socket.destroy();
    const smb = await this.#smb?.catch(() => undefined);
    await smb?.close();
    await closed;
  }

  async #take(socket: Socket): Promise<void> {
    const gone = () => socket.destroy();
    socket.on('error', gone);
    this.#waiting.add(socket);
    try {
      this.#smb ??= load(this.#store, this.#aclMode, this.#report);
      const smb = await this.#smb;
      if (socket.destroyed) return;
      socket.off('error', gone);
      smb.take(socket);
      socket.resume();
    } catch (error) {
      this.#smb = undefined;
      this.#report(error);
      socket.destroy();
    } finally {
      this.#waiting.delete(socket);
    }
  }
}

async function load(
  store: OpenStore,
  aclMode: AclMode | undefined,
  report: (error: unknown) => void,
): Promise<SmbServer> {
  await store.service('file');
  const { openSmb } = await import('./smb.js');
  return openSmb(store, aclMode, report);
}
