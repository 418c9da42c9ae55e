// What is printed: colour only on a terminal that wants it, no line beyond 80 columns where it can be helped, and a
// bar for what takes long.

import type { Progress } from './admin/calls.js';

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;
type Colour = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

const codes: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };
const barWidth = 30;
const redrawMs = 100;

export class Terminal {
  readonly #stream: Stream;
  readonly #hasColour: boolean;
  readonly #isInteractive: boolean;
  #drawnAt = 0;
  #isDrawn = false;

  constructor(
    stream: Stream = process.stdout,
    environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.#stream = stream;
    this.#isInteractive = stream.isTTY === true;
    const forced = environment['FORCE_COLOR'];
    this.#hasColour =
      forced !== undefined
        ? forced !== '0'
        : this.#isInteractive && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  }

  /** The text in this colour, where there are colours. */
  paint(colour: Colour, text: string): string {
    return this.#hasColour ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text;
  }

  line(text = ''): void {
    this.#stream.write(`${this.#erase()}${text}\n`);
  }

  /** On a terminal alone; redrawn ten times a second at most. */
  readonly progress = ({ what, done, total }: Progress): void => {
    const now = performance.now();
    if (!this.#isInteractive || (now - this.#drawnAt < redrawMs && done !== total)) return;
    this.#drawnAt = now;
    const amount = what === 'bytes' ? formatBytes : (count: number) => count.toLocaleString('en-US');
    const told =
      total === undefined ? `${amount(done)} ${what}` : `${amount(done)} of ${amount(total)} ${what}`;
    const bar = total === undefined ? '' : `${drawBar(done, total)} `;
    this.#stream.write(`${this.#erase()}${bar}${told}`.slice(0, (this.#stream.columns ?? 80) + 4));
    this.#isDrawn = true;
  };

  /** Takes the bar away. */
  done(): void {
    this.#stream.write(this.#erase());
  }

  #erase(): string {
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    return '\r\x1b[2K';
  }
}

function drawBar(done: number, total: number): string {
  const full = total === 0 ? barWidth : Math.min(barWidth, Math.round((done / total) * barWidth));
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${String(total === 0 ? 100 : Math.floor((done / total) * 100)).padStart(3)} %`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
