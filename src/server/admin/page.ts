// What somebody sees who opens the admin port in a browser: where the services are, whether they are well, what they
// have been asked. It tells nothing that /health and /metrics do not tell anybody too; no script, no token, no key.

import { escapeText } from '../../http/xml.js';
import type { Metrics, OperationCount } from '../metrics.js';
import type { OpenStore } from '../open-store.js';
import type { Urls } from '../serve.js';
import { formatBytes } from '../terminal.js';
import { version } from '../version.js';
import { isReady, type Readiness } from './health.js';

/** Text that is to be shown as a page. */
export class Page {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

/** Nothing on it is fetched from anywhere, and no other site shows it as its own. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const;

interface Shown {
  readonly store: OpenStore;
  readonly metrics: Metrics;
  readonly urls: Urls;
}

export async function overviewPage({ store, metrics, urls }: Shown): Promise<Page> {
  const ready = await isReady(store);
  const { freeBytes } = store.engine.health();
  const space = Number.isFinite(freeBytes) ? `${formatBytes(freeBytes)} free` : 'in memory';
  return new Page(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="10">
<meta name="viewport" content="width=device-width">
<title>Lazuli</title>
<style>${style}</style>
</head>
<body>
<h1>Lazuli <small>${escapeText(version())}</small></h1>
<p class="${ready.ready ? 'well' : 'ill'}">${escapeText(stateOf(ready))} <span>${escapeText(space)}</span></p>
<h2>Services</h2>
${table([['', 'address'], ...Object.entries(urls).map(([name, url]) => [name, url ?? ''])])}
<p>A client connects with what <code>lazuli connection-string</code> prints.</p>
<h2>Requests since the start</h2>
${requests(metrics.operations())}
<h2>More</h2>
<p><a href="/health/ready">/health/ready</a>, <a href="/metrics">/metrics</a>. The rest needs the token that was printed
at the start; <code>lazuli --help</code> lists commands that do the same.</p>
</body>
</html>
`);
}

function stateOf({ ready, state, reason }: Readiness): string {
  return ready ? 'Ready: a write just reached the disk.' : `Not ready (${state}): ${reason}`;
}

/** The most asked first. */
function requests(operations: readonly OperationCount[]): string {
  if (operations.length === 0) return '<p>None yet.</p>';
  const sorted = [...operations].sort((a, b) => b.answered - a.answered);
  return table([
    ['service', 'operation', 'answered', 'refused', 'mean', 'in', 'out'],
    ...sorted.map(({ service, operation, answered, refused, meanMs, bytesIn, bytesOut }) => [
      ...[service, operation, String(answered), String(refused), `${meanMs.toFixed(1)} ms`],
      ...[formatBytes(bytesIn), formatBytes(bytesOut)],
    ]),
  ]);
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeText(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`;
}

const style = `
:root { color-scheme: light dark; --line: #8884; --blue: #26619c; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { color: var(--blue); margin: 0; } h1 small { font-size: 1rem; font-weight: normal; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: normal; opacity: .7; } th, td { padding: .2rem 1rem .2rem 0; }
td { border-top: 1px solid var(--line); } code { font-size: .95em; }
.well, .ill { border-left: .3rem solid #2a9d5c; padding-left: .8rem; } .ill { border-color: #c0392b; }
.well span, .ill span { opacity: .7; float: right; }
@media (prefers-color-scheme: dark) { :root { --blue: #6ea8e0; } }
`;
