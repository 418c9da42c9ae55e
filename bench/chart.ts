// The picture of the README: requests per second beside Azurite, drawn from a saved answer of `services`.

import type { Results } from './results.js';
import type { Row } from './services.js';

const width = 800;
const left = 150;
const barsWidth = 480;
const rowHeight = 46;
const top = 84;
const ours = '#1d4ed8';
const theirs = '#9aa3b2';
const number = new Intl.NumberFormat('en');

/** Of the small requests at so many connections. */
export function drawChart({ rows, hardware, date }: Results, connections = 16): string {
  const shown = rows.filter((row) => row.connections === connections && row.azurite && row.aim);
  const most = Math.max(...shown.map((row) => row.ours.perSecond));
  const height = top + shown.length * rowHeight + 40;
  const title = `Requests per second at ${connections} connections, 1 KiB each`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, 'Segoe UI', Helvetica, 'DejaVu Sans', sans-serif">`,
    `<title>${title}: Lazuli and Azurite</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>`,
    text(20, 34, title, 'font-size="18" font-weight="600" fill="#111827"'),
    ...legend(20, 60),
    ...shown.flatMap((row, at) => bars(row, top + at * rowHeight, most)),
    text(20, height - 16, escaped(`${date}, ${hardware}`), 'font-size="11" fill="#6b7280"'),
    '</svg>\n',
  ].join('\n');
}

function legend(x: number, y: number): string[] {
  const label = 'font-size="13" fill="#374151"';
  return [
    `<rect x="${x}" y="${y - 10}" width="12" height="12" rx="2" fill="${ours}"/>`,
    text(x + 18, y, 'Lazuli, every acknowledged write on disk', label),
    `<rect x="${x + 310}" y="${y - 10}" width="12" height="12" rx="2" fill="${theirs}"/>`,
    text(x + 328, y, 'Azurite 3.37, as it comes', label),
  ];
}

function bars({ work, ours: mine, azurite }: Row, y: number, most: number): string[] {
  const other = azurite?.perSecond ?? 0;
  const long = (perSecond: number) => Math.max(1, (perSecond / most) * barsWidth);
  const times = mine.perSecond / other;
  const factor = times >= 10 ? Math.round(times) : times.toFixed(1);
  const [name] = work.split(',');
  const rate = (perSecond: number) => number.format(Math.round(perSecond));
  return [
    text(
      left - 12,
      y + 22,
      escaped(`${name?.[0]?.toUpperCase()}${name?.slice(1)}`),
      'font-size="14" fill="#111827" text-anchor="end"',
    ),
    `<rect x="${left}" y="${y + 2}" width="${long(mine.perSecond).toFixed(1)}" height="18" rx="2" fill="${ours}"/>`,
    `<rect x="${left}" y="${y + 22}" width="${long(other).toFixed(1)}" height="12" rx="2" fill="${theirs}"/>`,
    text(
      left + long(mine.perSecond) + 8,
      y + 16,
      `${rate(mine.perSecond)}<tspan font-weight="600"> · ${factor} ×</tspan>`,
      'font-size="13" fill="#111827"',
    ),
    text(left + long(other) + 8, y + 32, rate(other), 'font-size="11" fill="#6b7280"'),
  ];
}

function text(x: number, y: number, content: string, style: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${style}>${content}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
