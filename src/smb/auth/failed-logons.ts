// Slows down guessing: an address with ten failed logons within a minute is answered a second later. Only
// addresses that failed are remembered, and only for that minute.

const windowMs = 60_000;
const failuresAllowed = 10;
const mostAddresses = 10_000;
export const logonDelayMs = 1000;

export class FailedLogons {
  readonly #times = new Map<string, number[]>();

  /** Notes a failure; the answer to it, and to all that follow, is to be delayed by so many milliseconds. */
  fail(address: string, now: number): void {
    const recent = this.#recent(address, now);
    recent.push(now);
    this.#times.delete(address);
    this.#times.set(address, recent.slice(-failuresAllowed));
    for (const oldest of this.#times.keys()) {
      if (this.#times.size <= mostAddresses) break;
      this.#times.delete(oldest);
    }
  }

  delayMs(address: string, now: number): number {
    const recent = this.#recent(address, now);
    if (recent.length === 0) this.#times.delete(address);
    return recent.length >= failuresAllowed ? logonDelayMs : 0;
  }

  #recent(address: string, now: number): number[] {
    return (this.#times.get(address) ?? []).filter((time) => time > now - windowMs);
  }
}
