// Waiting for a while, by the server's clock. A timer ends a pause; `wake` ends those that are over by the clock, which
// may have been moved.

export class Pauses {
  readonly #now: () => number;
  readonly #until = new Map<() => void, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when it is over. Rejects if whoever waits stops. */
  take(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#until.delete(end);
        resolve();
      };
      const stop = () => {
        reject(signal.reason);
        end();
      };
      const timer = setTimeout(end, ms).unref();
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#until.set(end, this.#now() + ms);
    });
  }

  wake(): void {
    const now = this.#now();
    for (const [end, until] of this.#until) if (until <= now) end();
  }
}
