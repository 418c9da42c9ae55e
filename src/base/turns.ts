// Takes turns: how much bulk work is done in one turn of the event loop. Without it a hundred who download
// have a hundred pieces checked and sent before anybody who asks for a few bytes is looked at again.

export class Turns {
  readonly #inEach: number;
  #left: number;
  #waiting: (() => void)[] = [];
  #isCounting = false;

  constructor(inEach: number) {
    this.#inEach = inEach;
    this.#left = inEach;
  }

  /** Nothing if the piece of work may be done at once, else a promise of its turn, in order of arrival. */
  take(): Promise<void> | undefined {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(this.#next);
    }
    if (this.#left > 0) {
      this.#left--;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whatever came by the network meanwhile has been looked at. */
  readonly #next = (): void => {
    const served = this.#waiting.splice(0, this.#inEach);
    this.#left = this.#inEach - served.length;
    this.#isCounting = served.length > 0;
    if (this.#isCounting) setImmediate(this.#next);
    for (const wake of served) wake();
  };
}
