// Which isolation a history of transactions shows, found as Elle does it (Kingsbury and Alvaro, 2020): lists that
// are appended to and read. A list tells the order of its versions by itself, and so who depends on whom:
//
//   ww   the one appended just behind the other
//   wr   the one read what the other had appended last
//   rw   the one read the list as it was just before the other appended
//   rt   the one was over before the other began
//
// A cycle is an anomaly, by Adya's names, and its edges tell which levels forbid it:
//
//   G0                 ww alone                      forbidden by all
//   G1c                ww, wr                        forbidden by all
//   G-nonadjacent      no two rw behind each other   forbidden by snapshot and above: lost update, read skew
//   G2                 any                           forbidden by serializable: write skew
//   not strict         rt among them                 forbidden by strict serializable
//
// What no order can explain needs no cycle: an aborted or intermediate append that was read, two reads of one
// list of which neither begins with the other, an append that is gone, or there twice.

import { type Edge, findCycle, Graph } from './graph.js';

export type ListOperation = Readonly<
  { kind: 'append'; key: string; value: number } | { kind: 'read'; key: string; list: readonly number[] }
>;

export interface ListTransaction {
  readonly name: string;
  /** Unknown: it may have been committed or not. */
  readonly status: 'committed' | 'aborted' | 'unknown';
  readonly operations: readonly ListOperation[];
  /** In the order of one clock. */
  readonly began: number;
  readonly ended: number;
}

export type Level = 'read committed' | 'snapshot' | 'serializable' | 'strict serializable';

export interface Anomaly {
  readonly kind: AnomalyKind;
  readonly text: string;
}

export type AnomalyKind =
  | 'aborted read'
  | 'intermediate read'
  | 'own appends not read'
  | 'incompatible order'
  | 'duplicate'
  | 'lost append'
  | CycleKind;

type CycleKind = 'G0' | 'G1c' | 'G-nonadjacent' | 'G2' | 'not strict';

const forbiddenCycles: Readonly<Record<Level, readonly CycleKind[]>> = {
  'read committed': ['G0', 'G1c'],
  snapshot: ['G0', 'G1c', 'G-nonadjacent'],
  serializable: ['G0', 'G1c', 'G-nonadjacent', 'G2'],
  'strict serializable': ['G0', 'G1c', 'G-nonadjacent', 'G2', 'not strict'],
};

/**
 * What the level forbids and the history shows. The history ends with reads of all lists, by transactions that
 * began when all others were over: so it is known which appends are there.
 */
export function findAnomalies(history: readonly ListTransaction[], level: Level): Anomaly[] {
  const lists = new Lists(history);
  const anomalies = [...lists.anomalies];
  const graph = dependencies(lists);
  for (const kind of forbiddenCycles[level]) {
    const cycle = findCycle(cycleGraphs[kind](graph));
    if (cycle === undefined) continue;
    anomalies.push({ kind, text: describe(cycle, lists.transactions) });
    break; // the weaker ones contain it
  }
  return anomalies;
}

const cycleGraphs: Readonly<Record<CycleKind, (graph: Graph) => Graph>> = {
  G0: (graph) => graph.only('ww'),
  G1c: (graph) => graph.only('ww', 'wr'),
  'G-nonadjacent': (graph) => graph.only('ww', 'wr', 'rw').withoutNeighbours('rw'),
  G2: (graph) => graph.only('ww', 'wr', 'rw'),
  'not strict': (graph) => graph,
};

interface Append {
  readonly writer: ListTransaction;
  /** Whether it was the last one of its writer to this list. */
  readonly isLast: boolean;
}

/** The versions of each list, and who wrote them. */
class Lists {
  readonly anomalies: Anomaly[] = [];
  /** Those that count: committed, or unknown and seen by somebody who was. */
  readonly transactions: ListTransaction[];
  /** The longest that was read. */
  readonly orders = new Map<string, readonly number[]>();
  readonly #appends = new Map<string, Append>();

  constructor(history: readonly ListTransaction[]) {
    for (const transaction of history) this.#noteAppends(transaction);
    const committed = history.filter(({ status }) => status === 'committed');
    for (const transaction of committed) this.#noteOrders(transaction);
    for (const transaction of committed) this.#judgeReads(transaction);
    this.transactions = history.filter(
      (transaction) =>
        transaction.status === 'committed' || (transaction.status === 'unknown' && this.#isSeen(transaction)),
    );
    for (const transaction of this.transactions) this.#judgeAppends(transaction);
  }

  writer(key: string, value: number | undefined): ListTransaction | undefined {
    return value === undefined ? undefined : this.#appends.get(`${key} ${value}`)?.writer;
  }

  #noteAppends(transaction: ListTransaction): void {
    const appends = transaction.operations.filter((operation) => operation.kind === 'append');
    appends.forEach(({ key, value }, index) => {
      const isLast = !appends.slice(index + 1).some((later) => later.key === key);
      this.#appends.set(`${key} ${value}`, { writer: transaction, isLast });
    });
  }

  #noteOrders({ operations }: ListTransaction): void {
    for (const operation of operations) {
      if (operation.kind !== 'read') continue;
      const { key, list } = operation;
      if (list.length >= (this.orders.get(key)?.length ?? 0)) this.orders.set(key, list);
    }
  }

  #judgeReads(transaction: ListTransaction): void {
    for (const { key, list, own } of readsOf(transaction)) {
      const order = this.orders.get(key) ?? [];
      const text = `${transaction.name} read ${key} = ${list.join(' ')}`;
      if (new Set(list).size < list.length) this.anomalies.push({ kind: 'duplicate', text });
      if (list.some((value, index) => order[index] !== value))
        this.anomalies.push({ kind: 'incompatible order', text: `${text}, others ${order.join(' ')}` });
      if (own.some((value, index) => list[list.length - own.length + index] !== value))
        this.anomalies.push({ kind: 'own appends not read', text });
      for (const value of list) {
        const writer = this.writer(key, value);
        if (writer === undefined || (writer.status === 'aborted' && writer !== transaction))
          this.anomalies.push({ kind: 'aborted read', text: `${text}: ${value} was never committed` });
      }
      const last = this.#appends.get(`${key} ${list.at(-1)}`);
      if (last !== undefined && last.writer !== transaction && !last.isLast)
        this.anomalies.push({
          kind: 'intermediate read',
          text: `${text} in the middle of ${last.writer.name}`,
        });
    }
  }

  /** All of a transaction is there; and unless it is known to be committed, all or nothing. */
  #judgeAppends({ name, operations }: ListTransaction): void {
    for (const operation of operations) {
      if (operation.kind === 'append' && !this.orders.get(operation.key)?.includes(operation.value))
        this.anomalies.push({
          kind: 'lost append',
          text: `${name}: ${operation.value} is not in ${operation.key}`,
        });
    }
  }

  #isSeen({ operations }: ListTransaction): boolean {
    return operations.some(
      (operation) => operation.kind === 'append' && this.orders.get(operation.key)?.includes(operation.value),
    );
  }
}

interface ExternalRead {
  readonly key: string;
  readonly list: readonly number[];
  /** What the transaction had appended itself before. */
  readonly own: readonly number[];
}

function readsOf({ operations }: ListTransaction): ExternalRead[] {
  const own = new Map<string, number[]>();
  const reads: ExternalRead[] = [];
  for (const operation of operations) {
    const { key } = operation;
    const appended = own.get(key) ?? [];
    if (operation.kind === 'read') reads.push({ key, list: operation.list, own: [...appended] });
    else own.set(key, [...appended, operation.value]);
  }
  return reads;
}

function dependencies(lists: Lists): Graph {
  const { transactions } = lists;
  const graph = new Graph(transactions.length);
  const places = new Map(transactions.map((transaction, index) => [transaction, index]));
  const edge = (kind: Edge['kind'], from: ListTransaction | undefined, to: ListTransaction | undefined) => {
    const [a, b] = [from && places.get(from), to && places.get(to)];
    if (a !== undefined && b !== undefined && a !== b) graph.add(a, { kind, to: b });
  };
  for (const [key, order] of lists.orders) {
    for (const [index, value] of order.entries())
      edge('ww', lists.writer(key, order[index - 1]), lists.writer(key, value));
  }
  for (const transaction of transactions) {
    if (transaction.status !== 'committed') continue; // what it read was told to nobody
    for (const { key, list, own } of readsOf(transaction)) {
      const seen = list.length - own.length;
      edge('wr', lists.writer(key, list[seen - 1]), transaction);
      edge('rw', transaction, lists.writer(key, lists.orders.get(key)?.[seen]));
    }
  }
  addRealTime(graph, transactions);
  return graph;
}

/** A chain of the moments at which one was over: each leads to the next, and to those that began behind it. */
function addRealTime(graph: Graph, transactions: readonly ListTransaction[]): void {
  const ends = transactions
    .map((transaction, index) => ({ index, at: transaction.ended }))
    .filter(({ index }) => transactions[index]?.status === 'committed')
    .sort((a, b) => a.at - b.at);
  const moments = ends.map(({ index, at }) => {
    const moment = graph.addNode();
    graph.add(index, { kind: 'rt', to: moment });
    return { moment, at };
  });
  moments.forEach(({ moment }, index) => {
    const before = moments[index - 1];
    if (before !== undefined) graph.add(before.moment, { kind: 'rt', to: moment });
  });
  let over = 0;
  const begins = transactions.map(({ began }, index) => ({ began, index })).sort((a, b) => a.began - b.began);
  for (const { began, index } of begins) {
    while ((moments[over]?.at ?? Number.POSITIVE_INFINITY) < began) over++;
    const before = moments[over - 1];
    if (before !== undefined) graph.add(before.moment, { kind: 'rt', to: index });
  }
}

function describe(cycle: readonly Edge[], transactions: readonly ListTransaction[]): string {
  const name = (index: number) => transactions[index]?.name ?? 'the moment after';
  const edges = cycle.flatMap((edge) => (edge.behind === undefined ? [edge] : [edge.behind, edge]));
  return edges.map(({ kind, to }) => `-${kind}-> ${name(to)}`).join(' ');
}
