// What a queue promises, checked on the history of one queue that was emptied at the end:
//
//   a message that was put is handed out until it is deleted, and never one that was not put
//   who got it has it alone for as long as it is hidden: no two gets within that time, no two with one count
//   a receipt is good until the next one is given out
//   what was deleted is never seen again; what was updated shows its new text
//   a get that found too little left nothing behind that it could have had
//
// A queue hands messages out in no promised order, so no sequential model would do: each message is judged by itself.
// Hiding is measured by the client's clock: it began within the call that asked for it.

import type { Recorded } from './history.js';

export type QueueCall = Readonly<
  | { op: 'put'; text: string; hideMs: number }
  | { op: 'get'; most: number; hideMs: number }
  | { op: 'update'; id: string; receipt: string; hideMs: number; text?: string }
  | { op: 'delete'; id: string; receipt: string }
>;

export interface Handed {
  readonly id: string;
  readonly text: string;
  readonly count: number;
  readonly receipt: string;
}

export type QueueResult = Readonly<
  { ok: true; messages?: readonly Handed[]; id?: string; receipt?: string } | { code: string }
>;

export type QueueRecord = Recorded<QueueCall, QueueResult>;

export interface Problem {
  readonly what: string;
  readonly records: readonly Recorded[];
}

/** Something that happened to one message. */
interface Step {
  readonly record: QueueRecord;
  readonly op: QueueCall['op'];
  readonly hideMs: number;
  /** What it had to show, and what it was given. */
  readonly used: string | undefined;
  readonly given: string | undefined;
  readonly text: string | undefined;
  readonly count: number;
  readonly isKnown: boolean;
}

interface Message {
  readonly id: string;
  readonly put: QueueRecord | undefined;
  readonly steps: Step[];
}

export interface QueueCheck {
  /** The client that emptied the queue at the end, when nothing was hidden any more. */
  readonly judge: string;
  /** By how much the server's clock was moved ahead while it ran; a kill takes that back. */
  readonly jumpedMs?: number;
}

/** How far clocks may be apart that show the same time. */
const roundingMs = 20;

export function checkQueue(history: readonly Recorded[], { judge, jumpedMs = 0 }: QueueCheck): Problem[] {
  const records = history as readonly QueueRecord[];
  const { messages, problems } = messagesIn(records);
  for (const message of messages.values()) {
    checkCounts(message, problems);
    checkHiding(message, roundingMs + jumpedMs, problems);
    checkDeleted(message, problems);
    checkReceipts(message, problems);
    checkTexts(message, problems);
    checkLost(message, judge, problems);
  }
  checkShort(records, [...messages.values()], jumpedMs, problems);
  return problems;
}

function isRefused({ result }: QueueRecord): boolean {
  return result !== undefined && 'code' in result;
}

/** The token that every text of a message begins with. */
function tokenOf(text: string): string {
  return text.split('/')[0] ?? text;
}

function messagesIn(records: readonly QueueRecord[]): {
  messages: Map<string, Message>;
  problems: Problem[];
} {
  const problems: Problem[] = [];
  const puts = new Map<string, QueueRecord>();
  const messages = new Map<string, Message>();
  const idOfToken = new Map<string, string>();
  const find = (id: string, token: string | undefined): Message => {
    const known = messages.get(id);
    if (known) return known;
    const message = { id, put: token === undefined ? undefined : puts.get(token), steps: [] };
    messages.set(id, message);
    return message;
  };
  for (const record of records) if (record.call.op === 'put') puts.set(record.call.text, record);
  for (const record of records) {
    const { call, result } = record;
    if (call.op === 'put' && result && 'ok' in result) {
      idOfToken.set(call.text, result.id ?? '');
      find(result.id ?? '', call.text);
    }
    if (call.op !== 'get' || !result || !('ok' in result)) continue;
    for (const handed of result.messages ?? []) {
      const token = tokenOf(handed.text);
      const put = puts.get(token);
      if (!put || isRefused(put))
        problems.push({ what: `${handed.text} was handed out and never put`, records: [record] });
      else if ((idOfToken.get(token) ?? handed.id) !== handed.id)
        problems.push({ what: `${token} was put once and is there twice`, records: [put, record] });
      idOfToken.set(token, handed.id);
      find(handed.id, token).steps.push(gotten(record, handed, call.hideMs));
    }
  }
  for (const record of records) {
    if (record.call.op !== 'update' && record.call.op !== 'delete') continue;
    if (!isRefused(record)) messages.get(record.call.id)?.steps.push(changed(record, record.call));
  }
  for (const { steps } of messages.values()) steps.sort((a, b) => a.record.startMs - b.record.startMs);
  return { messages, problems };
}

function gotten(record: QueueRecord, { receipt, text, count }: Handed, hideMs: number): Step {
  return { record, op: 'get', hideMs, used: undefined, given: receipt, text, count, isKnown: true };
}

function changed(record: QueueRecord, call: Extract<QueueCall, { op: 'update' | 'delete' }>): Step {
  const { result } = record;
  const given = result && 'ok' in result ? result.receipt : undefined;
  const update = call.op === 'update' ? call : undefined;
  return {
    record,
    op: call.op,
    hideMs: update?.hideMs ?? 0,
    used: call.receipt,
    given,
    text: update?.text,
    count: 0,
    isKnown: result !== undefined,
  };
}

function checkCounts({ steps }: Message, problems: Problem[]): void {
  const gets = steps.filter(({ op }) => op === 'get');
  for (const [index, first] of gets.entries()) {
    for (const second of gets.slice(index + 1)) {
      const records = [first.record, second.record];
      if (first.count === second.count)
        problems.push({ what: `${first.text} was handed out twice as number ${first.count}`, records });
      else if (first.record.endMs < second.record.startMs && first.count > second.count)
        problems.push({ what: `the count of ${first.text} fell`, records });
    }
  }
}

/** No two gets of one message while it is hidden. */
function checkHiding({ put, steps }: Message, slackMs: number, problems: Problem[]): void {
  const gets = steps.filter(({ op }) => op === 'get');
  for (const [index, first] of gets.entries()) {
    for (const second of gets.slice(index + 1)) {
      const apart = [
        [first, second],
        [second, first],
      ] as const;
      if (apart.some(([a, b]) => b.record.endMs + slackMs >= hiddenUntil(steps, a, b))) continue;
      const what = `${first.text} was handed out twice while it was hidden`;
      problems.push({ what, records: [first.record, second.record] });
    }
  }
  if (put?.call.op !== 'put' || put.call.hideMs === 0) return;
  const until = put.startMs + put.call.hideMs - slackMs;
  for (const { record, text } of gets) {
    if (record.endMs < until)
      problems.push({ what: `${text} was seen before its time`, records: [put, record] });
  }
}

/** The earliest moment that what `get` hid may be seen by `other`, given what was done with it between. */
function hiddenUntil(steps: readonly Step[], get: Step, other: Step): number {
  const chain: Step[] = [get];
  for (const step of steps) {
    const belongs = chain.some(({ given }) => given !== undefined && given === step.used);
    if (step.op === 'update' && belongs && step.record.startMs <= other.record.endMs) chain.push(step);
  }
  const settled = chain.filter((step) => step.isKnown && step.record.endMs < other.record.startMs);
  const last = settled.reduce((a, b) => (b.record.startMs > a.record.startMs ? b : a), settled[0] ?? get);
  const possible = chain.filter((step) => step === last || step.record.endMs >= last.record.startMs);
  return Math.min(...possible.map(({ record, hideMs }) => record.startMs + hideMs));
}

function checkDeleted({ steps }: Message, problems: Problem[]): void {
  const deletes = steps.filter(({ op, isKnown }) => op === 'delete' && isKnown);
  for (const { record } of deletes) {
    for (const step of steps) {
      if (step.record === record || !step.isKnown || step.record.startMs <= record.endMs) continue;
      const what =
        step.op === 'get'
          ? `${step.text} was handed out after it was deleted`
          : `a deleted message took a ${step.op}`;
      problems.push({ what, records: [record, step.record] });
    }
  }
  const [first, second] = deletes;
  if (first && second)
    problems.push({ what: 'a message was deleted twice', records: [first.record, second.record] });
}

/** A receipt that another one certainly replaced before it was used. */
function checkReceipts({ steps }: Message, problems: Problem[]): void {
  for (const step of steps) {
    if (step.used === undefined || !step.isKnown) continue;
    const origin = steps.find(({ given }) => given === step.used);
    if (!origin) continue;
    const newer = steps.find(
      ({ given, record }) =>
        given !== undefined &&
        given !== step.used &&
        record.startMs > origin.record.endMs &&
        record.endMs < step.record.startMs,
    );
    if (newer) {
      const records = [origin.record, newer.record, step.record];
      problems.push({ what: `a ${step.op} with a receipt that was no longer good succeeded`, records });
    }
  }
}

/** A get shows a text that no other one had certainly replaced. */
function checkTexts({ put, steps }: Message, problems: Problem[]): void {
  const written = steps.filter(({ op, text }) => op === 'update' && text !== undefined);
  for (const get of steps.filter(({ op }) => op === 'get')) {
    const source = written.find(({ text }) => text === get.text)?.record ?? put;
    if (!source) continue;
    const newer = written.find(
      ({ record, isKnown }) =>
        isKnown && record !== source && record.startMs > source.endMs && record.endMs < get.record.startMs,
    );
    if (newer) problems.push({ what: `${get.text} is an old text`, records: [newer.record, get.record] });
  }
}

function checkLost({ put, steps }: Message, judge: string, problems: Problem[]): void {
  if (!put?.result || steps.some(({ op }) => op === 'delete')) return;
  if (!steps.some(({ op, record }) => op === 'get' && record.client === judge))
    problems.push({
      what: `${put.call.op === 'put' ? put.call.text : ''} is lost`,
      records: [put, ...steps.map(({ record }) => record)],
    });
}

/**
 * Gets that gave less than was asked for, although a message lay there that nobody had touched. One that was put when
 * the clock was ahead may be hidden for as long when the clock has fallen back. A get that has something need not wait
 * for what another one has that is then refused.
 */
function checkShort(
  records: readonly QueueRecord[],
  messages: readonly Message[],
  jumpedMs: number,
  problems: Problem[],
): void {
  const firstUnknown = records
    .filter(({ call, result }) => call.op === 'get' && result === undefined)
    .reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY);
  const refused = records.filter((record) => record.call.op === 'get' && isRefused(record));
  const latest = latestUntouched(messages);
  for (const get of records) {
    const { call, result } = get;
    if (call.op !== 'get' || !result || !('ok' in result)) continue;
    const found = result.messages?.length ?? 0;
    if (found >= call.most) continue;
    if (found > 0 && refused.some((other) => other.startMs < get.endMs && other.endMs > get.startMs))
      continue;
    if (firstUnknown < get.endMs) continue; // it may have hidden anything
    const left = latest(get.startMs - jumpedMs);
    if (left !== undefined && left.touchedMs > get.endMs)
      problems.push({ what: 'a get left a message that it could have had', records: [left.put, get] });
  }
}

interface Untouched {
  readonly put: QueueRecord;
  /** When it was first handed out, or whatever was done to it. */
  readonly touchedMs: number;
}

/** Of the messages that were there and to be seen before a time, the one that was left alone for longest. */
function latestUntouched(messages: readonly Message[]): (beforeMs: number) => Untouched | undefined {
  const sorted: Untouched[] = messages
    .flatMap(({ put, steps }) =>
      put?.call.op === 'put' && put.call.hideMs === 0 && put.result !== undefined
        ? [{ put, touchedMs: Math.min(...steps.map(({ record }) => record.startMs)) }]
        : [],
    )
    .sort((a, b) => a.put.endMs - b.put.endMs);
  const best: Untouched[] = [];
  for (const one of sorted) {
    const before = best.at(-1);
    best.push(before !== undefined && before.touchedMs >= one.touchedMs ? before : one);
  }
  return (beforeMs) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.put.endMs ?? 0) < beforeMs) low = middle + 1;
      else high = middle;
    }
    return best[low - 1];
  };
}
