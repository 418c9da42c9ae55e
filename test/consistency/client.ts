// One client process: a few threads that act at random until the time is over, and write down what they see.
// Its argument is a file with its settings; the history is appended to another.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import type { Ports } from '../support/restartable.js';
import { writeLine } from './history.js';
import { Sender } from './sender.js';
import { newThread, type Place } from './thread.js';
import { act } from './work.js';

export interface ClientSettings {
  readonly client: number;
  readonly threads: number;
  readonly seed: number;
  readonly durationMs: number;
  readonly dropShare: number;
  readonly ports: Ports;
  readonly sas: string;
  readonly place: Place;
  readonly history: string;
}

async function work(settings: ClientSettings, number: number, file: number, untilMs: number): Promise<void> {
  const random = seededRandom(settings.seed * 1000 + settings.client * 10 + number);
  const { ports, sas, dropShare, place } = settings;
  const sender = new Sender({ ports, sas, random, dropShare });
  const history = (record: Parameters<typeof writeLine>[0]) => void writeSync(file, `${writeLine(record)}\n`);
  const thread = newThread({ client: `${settings.client}.${number}`, random, sender, history });
  while (performance.now() < untilMs) {
    await act(thread, place);
    if (random() < 0.3) await delay(random() * 10);
  }
  sender.close();
}

const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ClientSettings;
const file = openSync(settings.history, 'a');
const untilMs = performance.now() + settings.durationMs;
await Promise.all(
  Array.from({ length: settings.threads }, (_, number) => work(settings, number, file, untilMs)),
);
closeSync(file);
