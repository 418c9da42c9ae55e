// The built program as a process of its own, that can be killed, paused and started again on the same folder and ports.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { programPath as main } from './program.js';

export interface Ports {
  readonly blob: number;
  readonly queue: number;
  readonly table: number;
  readonly file: number;
}

const readyWithinMs = 30_000;

export class Program {
  readonly location: string;
  readonly ports: Ports;
  /** What it wrote to its standard error: bugs, if anything. */
  complaints = '';
  /** How often it had to be started. */
  starts = 0;
  /** By how much its clock was moved; a start forgets it. */
  shiftedMs = 0;
  #child: ChildProcess | undefined;

  private constructor(location: string, ports: Ports) {
    this.location = location;
    this.ports = ports;
  }

  static async start(location: string): Promise<Program> {
    const [blob = 0, queue = 0, table = 0, file = 0] = await freePorts(4);
    const program = new Program(location, { blob, queue, table, file });
    await program.start();
    return program;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    const ports = Object.entries({ ...this.ports, smb: 0, admin: 0 });
    const args = ports.flatMap(([name, port]) => [`--${name}Port`, String(port)]);
    const child = spawn(
      process.execPath,
      [main, '--location', this.location, '--silent', '--testing', ...args],
      {
        env: ownEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#child = child;
    this.starts++;
    this.shiftedMs = 0;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.complaints += text;
    });
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`not ready in ${readyWithinMs} ms`)), readyWithinMs);
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Lazuli is ready')) resolve();
      });
      child.once('exit', (code, signal) =>
        reject(new Error(`the server ended (${signal ?? code}): ${this.complaints.slice(-2000)}`)),
      );
      child.once('exit', () => clearTimeout(late));
      child.stdout.once('data', () => clearTimeout(late));
    });
  }

  get hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }

  /** What it holds in memory of its own, without mapped files; 0 where that cannot be told. */
  get memoryBytes(): number {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  }

  /** As a power cut would, but for what the system has in its caches. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async pause(ms: number): Promise<void> {
    this.#child?.kill('SIGSTOP');
    await delay(ms);
    this.#child?.kill('SIGCONT');
  }

  /** What `lazuli verify` says of the data of a server that was stopped; nothing if it found nothing. */
  verify(): Promise<string> {
    const args = [main, 'verify', '--location', this.location];
    return new Promise((resolve) => {
      execFile(process.execPath, args, (error, out, err) => resolve(error === null ? '' : `${out}${err}`));
    });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return ended;
  }
}

/** Without the variables of the tests: LAZULI_SEED would be the program's --seed. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LAZULI_')));
}

/**
 * Free now, and below those that the system gives to outgoing connections: a client beside us cannot take one
 * while the program is down.
 */
async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const port = 12_000 + Math.floor(Math.random() * 18_000);
    if (!found.includes(port) && (await isFree(port))) found.push(port);
  }
  return found;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
