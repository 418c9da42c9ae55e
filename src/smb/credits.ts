// Message ids and credits: a client may use each id once, and only ids it was granted.
//
//        low                        top            low + 8192
//   used |  used, unused, used ...  |  not granted |  not before the lowest ids are used
//
// Granting moves top up; using the lowest ids moves low up.

export const mostCredits = 8192;

export class MessageWindow {
  #low = 0;
  #top = 1;
  /** One byte for each id of the window, at the id modulo its size. */
  readonly #used = new Uint8Array(mostCredits);
  #usedCount = 0;

  /** Uses `charge` ids from `first` on; false if one was not granted or is used already. */
  take(first: number, charge: number): boolean {
    if (!Number.isSafeInteger(first) || first < this.#low || first + charge > this.#top) return false;
    for (let id = first; id < first + charge; id++) if (this.#used[id % mostCredits]) return false;
    for (let id = first; id < first + charge; id++) this.#used[id % mostCredits] = 1;
    this.#usedCount += charge;
    while (this.#low < this.#top && this.#used[this.#low % mostCredits]) {
      this.#used[this.#low % mostCredits] = 0;
      this.#low++;
      this.#usedCount--;
    }
    return true;
  }

  /** Ids granted and not used. */
  get outstanding(): number {
    return this.#top - this.#low - this.#usedCount;
  }

  /** Grants what the window has room for of what a request gave up and asks for beyond it. */
  grant(charge: number, requested: number): number {
    const room = this.#low + mostCredits - this.#top;
    const wanted = charge + Math.max(0, requested - 1);
    const granted = Math.max(0, Math.min(wanted, room, mostCredits - this.outstanding));
    this.#top += granted;
    return granted;
  }
}
