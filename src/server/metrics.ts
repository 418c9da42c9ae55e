// What is counted, and how Prometheus is told. Counting is a few additions a request; prom-client is loaded when
// somebody asks for the first time.

import type { GroupInfo } from '../engine/groups.js';
import type { Finished } from '../http/exchange.js';
import type { OpenStore } from './open-store.js';

const secondsBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** How many values lie below each bound, and their sum. */
class Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  total = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  add(value: number): void {
    this.sum += value;
    this.total++;
    const at = this.bounds.findIndex((bound) => value <= bound);
    if (at >= 0) this.counts[at] = (this.counts[at] ?? 0) + 1;
  }

  merge(other: Histogram): void {
    this.sum += other.sum;
    this.total += other.total;
    for (const [at, count] of other.counts.entries()) this.counts[at] = (this.counts[at] ?? 0) + count;
  }
}

interface Served {
  readonly service: string;
  readonly operation: string;
  readonly code: string;
  readonly seconds: Histogram;
  bytesIn: number;
  bytesOut: number;
}

type Labels = Readonly<Record<string, string>>;
interface Value {
  readonly value: number;
  readonly labels: Labels;
  readonly metricName?: string;
}
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Value[];
}

/** How often an operation was asked for, and what came of it. */
export interface OperationCount {
  readonly service: string;
  readonly operation: string;
  readonly answered: number;
  readonly refused: number;
  readonly meanMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export class Metrics {
  readonly #served = new Map<string, Served>();
  readonly #commits = new Histogram(sizeBounds);
  readonly #seconds = new Histogram(secondsBounds);
  #written = 0;
  #registry: Promise<import('prom-client').Registry> | undefined;

  /** The same listener, with each request counted first. */
  alongside(listener: ((finished: Finished) => void) | undefined): (finished: Finished) => void {
    return (finished) => {
      this.#finished(finished);
      listener?.(finished);
    };
  }

  wrote({ commits, bytes, ms }: GroupInfo): void {
    this.#commits.add(commits);
    this.#seconds.add(ms / 1000);
    this.#written += bytes;
  }

  #finished({ reply, service, ms, bytesIn, bytesOut }: Finished): void {
    const operation = reply.operation ?? 'none';
    const code = reply.isGone ? 'gone' : (reply.errorCode ?? String(reply.status));
    const key = `${service} ${operation} ${code}`;
    let served = this.#served.get(key);
    if (served === undefined) {
      served = { service, operation, code, seconds: new Histogram(secondsBounds), bytesIn: 0, bytesOut: 0 };
      this.#served.set(key, served);
    }
    served.seconds.add(ms / 1000);
    served.bytesIn += bytesIn;
    served.bytesOut += bytesOut;
  }

  /** Each operation that was asked for. */
  operations(): OperationCount[] {
    return byOperation(this.#served.values()).map((group) => {
      const [{ service, operation }] = group;
      const answered = sum(group, ({ seconds }) => seconds.total);
      return {
        service,
        operation,
        answered,
        refused: sum(group, ({ code, seconds }) => (/^[123]\d\d$/.test(code) ? 0 : seconds.total)),
        meanMs: (sum(group, ({ seconds }) => seconds.sum) * 1000) / answered,
        bytesIn: sum(group, ({ bytesIn }) => bytesIn),
        bytesOut: sum(group, ({ bytesOut }) => bytesOut),
      };
    });
  }

  /** As Prometheus reads it. */
  async text(store: OpenStore): Promise<string> {
    this.#registry ??= loadRegistry();
    const registry = await this.#registry;
    for (const family of this.#families(store)) {
      registry.removeSingleMetric(family.name);
      registry.registerMetric({ name: family.name, get: async () => family } as never);
    }
    return registry.metrics();
  }

  #families({ engine, state }: OpenStore): Family[] {
    const served = [...this.#served.values()];
    const { locks, waits, conflicts, transactions } = state.inspect();
    const { freeBytes, waitingBytes, state: health } = engine.health();
    const sum = (name: string, help: string, value: (one: Served) => number) =>
      family(
        'counter',
        name,
        help,
        served.map((one) => ({ labels: labelsOf(one), value: value(one) })),
      );
    return [
      sum('lazuli_requests_total', 'Requests answered.', ({ seconds }) => seconds.total),
      sum('lazuli_request_bytes_total', 'Bytes of bodies that came in.', ({ bytesIn }) => bytesIn),
      sum('lazuli_response_bytes_total', 'Bytes of bodies that went out.', ({ bytesOut }) => bytesOut),
      histogram(
        'lazuli_request_seconds',
        'From the head of a request to the end of its answer.',
        latencies(served),
      ),
      histogram('lazuli_group_commits', 'Commits that reached the disk with one write.', [
        [{}, this.#commits],
      ]),
      histogram('lazuli_group_write_seconds', 'How long that write took.', [[{}, this.#seconds]]),
      one('counter', 'lazuli_written_bytes_total', 'Bytes of commits on disk.', this.#written),
      one('counter', 'lazuli_lock_waits_total', 'Waits for a lock begun.', waits),
      one('counter', 'lazuli_conflicts_total', 'Commits refused because a read no longer held.', conflicts),
      one('gauge', 'lazuli_locked_keys', 'Keys that are locked or waited for.', locks.length),
      one('gauge', 'lazuli_transactions', 'Transactions under way.', transactions.length),
      one('gauge', 'lazuli_waiting_bytes', 'Bytes ordered that wait for the disk.', waitingBytes),
      one('gauge', 'lazuli_free_bytes', 'Bytes free on the disk of the data folder.', freeBytes),
      one('gauge', 'lazuli_store_open', '1 if writes are taken, else 0.', health === 'open' ? 1 : 0),
    ];
  }
}

async function loadRegistry(): Promise<import('prom-client').Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

function labelsOf({ service, operation, code }: Served): Labels {
  return { service, operation, code };
}

/** What was served, all codes of one operation together. */
function byOperation(served: Iterable<Served>): [Served, ...Served[]][] {
  const groups = new Map<string, [Served, ...Served[]]>();
  for (const one of served) {
    const key = `${one.service} ${one.operation}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

function sum(group: readonly Served[], of: (served: Served) => number): number {
  return group.reduce((total, served) => total + of(served), 0);
}

/** Codes would multiply the buckets and tell little of latency. */
function latencies(served: readonly Served[]): (readonly [Labels, Histogram])[] {
  return byOperation(served).map((group) => {
    const [{ service, operation }] = group;
    const merged = new Histogram(secondsBounds);
    for (const { seconds } of group) merged.merge(seconds);
    return [{ service, operation }, merged];
  });
}

function family(type: Family['type'], name: string, help: string, values: readonly Value[]): Family {
  return { type, name, help, values };
}

function one(type: 'counter' | 'gauge', name: string, help: string, value: number): Family {
  return family(type, name, help, [{ labels: {}, value }]);
}

function histogram(name: string, help: string, all: readonly (readonly [Labels, Histogram])[]): Family {
  const values = all.flatMap(([labels, { bounds, counts, sum, total }]): Value[] => {
    let below = 0;
    const buckets = bounds.map((bound, at) => {
      below += counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  });
  return family('histogram', name, help, values);
}
