// What is kept of an answer: its lines with the date and the hardware behind them, because a number without them says
// nothing; of `services` also a table, the figures themselves, and the chart of the README that is drawn from them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { drawChart } from './chart.js';
import type { Score } from './loader.js';
import type { Row } from './services.js';

export interface Results {
  readonly date: string;
  readonly hardware: string;
  readonly rows: readonly Row[];
}

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'bench/results');

export function save(name: string, lines: readonly string[], rows: readonly Row[]): void {
  const [cpu] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const model = cpu?.model.replaceAll(/\s+/g, ' ') ?? 'unknown';
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const hardware = `${cpus().length} x ${model}, ${memory}, ${platform()} ${release()}, Node ${process.version}`;
  mkdirSync(folder, { recursive: true });
  const keep = (file: string, text: string) => writeFileSync(join(folder, file), text);
  keep(`${name}-${date}.txt`, `${date}\n${hardware}\n\n${lines.join('\n')}\n`);
  if (!rows.some(({ azurite }) => azurite)) return;
  const results: Results = { date, hardware, rows };
  keep(`services-${date}.json`, `${JSON.stringify(results, undefined, 1)}\n`);
  keep(`services-${date}.md`, table(results));
  keep('speed.svg', drawChart(results));
  const readme = join(root, 'README.md');
  writeFileSync(readme, withChart(readFileSync(readme, 'utf8'), date));
}

/** The chart stands in the README between two marks. */
export function withChart(readme: string, date: string): string {
  const text = [
    '![Requests per second beside Azurite](bench/results/speed.svg)',
    '',
    'Measured on one machine in one run, both servers in turns with the same requests from the same sockets, the median',
    `of three rounds ([all figures](bench/results/services-${date}.md), with latencies and a bare \`node:http\` server`,
    'beside them); `npm run bench -- all --save` repeats it.',
  ];
  return readme.replace(/(<!-- speed -->\n)[\s\S]*?(<!-- \/speed -->)/, `$1\n${text.join('\n')}\n\n$2`);
}

const number = new Intl.NumberFormat('en');

export function table({ date, hardware, rows }: Results): string {
  const head = [
    '',
    'connections',
    'Lazuli',
    'p50 / 95 / 99',
    'Azurite',
    'p50 / 95 / 99',
    'ratio',
    'bare',
    'of bare',
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '# The services beside Azurite 3.37 and a bare node:http server',
    '',
    `${date}, ${hardware}. Requests a second, or MB/s for 4 MiB; latencies in milliseconds; in brackets what is aimed`,
    'at. One run, the three in turns, the median of three rounds of a second each; the load comes from one thread on the',
    'same machine. Lazuli with every acknowledged write on disk, Azurite as it comes.',
    '',
    line(head),
    line(head.map((_, at) => (at === 0 ? '---' : '--:'))),
    ...rows.map((row) => line(cells(row))),
    '',
  ].join('\n');
}

function cells({ work, connections, ours, azurite, bare, bytes, aim, aimOfBare }: Row): string[] {
  const rate = (score: Score | undefined) => {
    if (score === undefined) return '';
    const { perSecond } = score;
    return bytes ? `${Math.round((perSecond * bytes) / 1e6)} MB/s` : number.format(Math.round(perSecond));
  };
  const times = (score: Score | undefined) =>
    score === undefined ? '' : [score.p50, score.p95, score.p99].map((ms) => ms.toFixed(1)).join(' / ');
  const aimed = (text: string, wanted: number | undefined, unit: string) =>
    wanted === undefined ? text : `${text} (${wanted}${unit})`;
  const ratio = azurite ? aimed(`${(ours.perSecond / azurite.perSecond).toFixed(1)} x`, aim, ' x') : '';
  const share = bare
    ? aimed(`${((ours.perSecond / bare.perSecond) * 100).toFixed(0)} %`, aimOfBare, ' %')
    : '';
  return [
    work,
    String(connections),
    rate(ours),
    times(ours),
    rate(azurite),
    times(azurite),
    ratio,
    rate(bare),
    share,
  ];
}
