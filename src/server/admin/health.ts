// Ready means that a write reached the disk: one is made to find out, not more often than each second, however many
// ask.

import type { OpenStore } from '../open-store.js';

export interface Readiness {
  readonly ready: boolean;
  readonly state: string;
  readonly reason?: string;
}

const freshMs = 1_000;
const longestMs = 5_000;
const latest = new WeakMap<OpenStore, { readonly at: number; readonly result: Promise<Readiness> }>();

export function isReady(store: OpenStore): Promise<Readiness> {
  const known = latest.get(store);
  const now = performance.now();
  if (known !== undefined && now - known.at < freshMs) return known.result;
  const result = tryWrite(store);
  latest.set(store, { at: now, result });
  return result;
}

async function tryWrite({ store, engine }: OpenStore): Promise<Readiness> {
  const { state } = engine.health();
  try {
    const checks = await store.state.dictionary<string, number>('$system/health', {
      system: true,
      count: false,
    });
    await store.run((tx) => checks.set(tx, 'ready', store.now()), { withinMs: longestMs });
    return { ready: true, state };
  } catch (error) {
    return { ready: false, state: engine.health().state, reason: (error as Error).message };
  }
}
