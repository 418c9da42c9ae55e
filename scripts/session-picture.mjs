// Draws docs/first-session.svg: the program is started, a container and a blob are put, and what it printed is drawn as
// on a terminal of 80 columns.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobServiceClient } from '@azure/storage-blob';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'lazuli-picture-'));
const usual = { blob: 10000, queue: 10001, table: 10002, file: 10003, smb: 10445, admin: 10005 };
const ports = Object.keys(usual).map((name) => `--${name}Port=0`);
const program = spawn(process.execPath, [join(root, 'dist/server/main.js'), ...ports], {
  cwd: folder,
  env: { ...process.env, FORCE_COLOR: '1' },
});
let output = '';
const ready = new Promise((resolve) => {
  program.stdout.on('data', (text) => {
    output += text;
    if (output.includes('Lazuli is ready')) resolve();
  });
});
await ready;
const colourCode = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`, 'g');
const plain = (text) => text.replaceAll(colourCode, '');
const url = /Blob service +listens at (\S+)/.exec(plain(output))[1];
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const connection = `AccountName=devstoreaccount1;AccountKey=${key};DefaultEndpointsProtocol=http;BlobEndpoint=${url}/devstoreaccount1;`;
const photos = BlobServiceClient.fromConnectionString(connection).getContainerClient('photos');
await photos.create();
await photos.getBlockBlobClient('cat.jpg').upload('meow', 4);
await photos
  .getBlockBlobClient('cat.jpg')
  .upload('purr', 4, { conditions: { ifNoneMatch: '*' } })
  .catch(() => {});
await new Promise((resolve) => setTimeout(resolve, 100));
program.kill();
await new Promise((resolve) => program.on('close', resolve));
rmSync(folder, { recursive: true });

const labels = { Blob: 'blob', Queue: 'queue', Table: 'table', File: 'file', SMB: 'smb', Admin: 'admin' };
const lines = output
  .trimEnd()
  .split('\n')
  .map((line) => {
    const service = labels[plain(line).split(' ')[0]];
    return line
      .replace(/(:\/\/127\.0\.0\.1):\d+/, `$1:${usual[service]}`)
      .replace(/^(Admin token +).*/, '$1kX2v0mVb9sJr4tQw7yZa1cEf5hLn8pDu')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, '4c5e1a2b...');
  });

const colours = { 1: '#ffffff', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' };
const xml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const drawn = ['\x1b[32m$\x1b[0m npx lazuli', ...lines].map((line, at) => {
  let colour = '#c9d1d9';
  const spans = line.split(colourCode).map((part, index) => {
    if (index % 2 === 1) colour = colours[part] ?? '#c9d1d9';
    return index % 2 === 1 || part === '' ? '' : `<tspan fill="${colour}">${xml(part)}</tspan>`;
  });
  return `<text x="20" y="${52 + at * 20}" xml:space="preserve">${spans.join('')}</text>`;
});
const columns = Math.max(80, ...lines.map((line) => plain(line).length));
const [width, height] = [40 + columns * 8.4, 52 + drawn.length * 20];
const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
  (fill, at) => `<circle cx="${22 + at * 20}" cy="18" r="6" fill="${fill}"/>`,
);
writeFileSync(
  join(root, 'docs/first-session.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Menlo, Consolas, monospace" font-size="14">
<title>A first session: npx lazuli starts all services and tells of each request</title>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${dots.join('')}
${drawn.join('\n')}
</svg>
`,
);
