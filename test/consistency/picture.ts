// A history as a picture: a lane for each client, a bar for each call, time from left to right. What matters is red;
// a call whose outcome is unknown is dashed and has no right end. Only the time around what matters is drawn.

import { isUnknown, type Recorded } from './history.js';

const laneHeight = 34;
const width = 1800;
const left = 90;
const most = 120;

export function drawHistory(
  title: string,
  history: readonly Recorded[],
  blamed: readonly Recorded[],
): string {
  const shown = around(history, blamed);
  const from = Math.min(...shown.map(({ startMs }) => startMs));
  const ends = shown.flatMap(({ startMs, endMs }) => (Number.isFinite(endMs) ? [startMs, endMs] : [startMs]));
  const to = Math.max(...ends) + 1;
  const x = (time: number) => left + ((Math.min(time, to) - from) / (to - from)) * (width - left - 20);
  const clients = [...new Set(shown.map(({ client }) => client))].sort();
  const height = 60 + clients.length * laneHeight;
  const lanes = clients.map((client, lane) => {
    const y = 50 + lane * laneHeight;
    return `<text x="8" y="${y + 18}">client ${xmlText(client)}</text><line x1="${left}" x2="${width}" y1="${y + laneHeight - 4}" y2="${y + laneHeight - 4}" stroke="#ddd"/>`;
  });
  const bars = shown.map((record) => {
    const y = 50 + clients.indexOf(record.client) * laneHeight;
    const start = x(record.startMs);
    const length = Math.max(3, x(record.endMs) - start);
    const isBlamed = blamed.includes(record);
    const fill = isBlamed ? '#e5484d' : isUnknown(record) ? 'none' : '#9ec5e8';
    const dash = isUnknown(record) ? ' stroke-dasharray="4 3"' : '';
    // Near the right edge it stands before its bar.
    const [at, anchor] = start > width * 0.7 ? [start - 2, 'end'] : [start + 2, 'start'];
    const label =
      isBlamed || length > 60
        ? `<text x="${at}" y="${y + 11}" text-anchor="${anchor}">${xmlText(short(record))}</text>`
        : '';
    return `<g><title>${xmlText(describe(record, from))}</title><rect x="${start.toFixed(1)}" y="${y}" width="${length.toFixed(1)}" height="14" fill="${fill}" stroke="#456"${dash}/>${label}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="monospace" font-size="11"><rect width="100%" height="100%" fill="white"/><text x="8" y="20" font-size="15">${xmlText(title)}</text><text x="${left}" y="40">0 ms</text><text x="${width - 90}" y="40">${(to - from).toFixed(1)} ms</text>${lanes.join('')}${bars.join('')}</svg>\n`;
}

/** One line for who reads a terminal. */
export function describe(record: Recorded, from = 0): string {
  const start = (record.startMs - from).toFixed(2);
  const end = isUnknown(record) ? 'unknown' : (record.endMs - from).toFixed(2);
  const result = record.result === undefined ? '' : ` ${JSON.stringify(record.result)}`;
  return `client ${record.client} [${start} .. ${end}] ${record.object} ${JSON.stringify(record.call)} → ${record.wire}${result}`.slice(
    0,
    600,
  );
}

/** Those that overlap what is blamed, and the ones just before and after. */
function around(history: readonly Recorded[], blamed: readonly Recorded[]): Recorded[] {
  const first = Math.min(...blamed.map(({ startMs }) => startMs));
  const sorted = [...history].sort((a, b) => a.startMs - b.startMs);
  const at = Math.max(
    0,
    sorted.findIndex(({ startMs }) => startMs >= first),
  );
  const near = sorted.slice(Math.max(0, at - most / 2), at + most / 2);
  return [...new Set([...near, ...blamed])];
}

/** `update 1.0-7-40 if 0.2-3-40: ConditionNotMet` */
function short({ call, result }: Recorded): string {
  const { op, name, onto, value, text, row, expects } = call as Record<string, string | undefined>;
  const words = [op, name ?? row, onto && `to ${onto}`, value ?? text, expects && `if ${expects}`];
  return `${words.filter(Boolean).join(' ')}${outcome(result)}`;
}

function outcome(result: unknown): string {
  const { code, value, rows, messages } = (result ?? {}) as Record<string, unknown>;
  const seen = code ?? value ?? (rows && JSON.stringify(rows));
  if (Array.isArray(messages)) return `: ${messages.map(({ text }) => text).join(', ') || 'none'}`;
  return typeof seen === 'string' ? `: ${seen.slice(0, 40)}` : '';
}

function xmlText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
