// Listeners: who wants to be told.

export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  get any(): boolean {
    return this.#listeners.size > 0;
  }

  /** The same function given twice is two listeners. The result ends it. */
  add(listener: (event: Event) => void): () => void {
    const own = (event: Event): void => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** One that throws is a bug of its own: it keeps neither the others nor the caller from going on. */
  tell(event: Event): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
