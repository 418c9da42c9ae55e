// Times as clients write them, and as they are told them. Milliseconds since 1970 inside; what is no time
// gives nothing, and a day that is not in the calendar is no time.

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const rfc1123 = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const rfc850 = /^[A-Z][a-z]{5,8}, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/;
const asctime = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/;

/** `Sun, 06 Nov 1994 08:49:37 GMT`, or the two older forms that HTTP still asks to be read. */
export function parseHttpDate(text: string): number | undefined {
  const usual = rfc1123.exec(text) ?? rfc850.exec(text);
  if (usual) {
    const [, day, month, year, ...clock] = usual;
    return httpTime(year, month, day, clock);
  }
  const old = asctime.exec(text);
  if (!old) return undefined;
  const [, month, day, hour, minute, second, year] = old;
  return httpTime(year, month, day, [hour, minute, second]);
}

type Part = string | undefined;

function httpTime(year = '', month: Part, day: Part, clock: readonly Part[]): number | undefined {
  const index = months.indexOf(month ?? '');
  if (index < 0) return undefined;
  const written = Number(year);
  const full = year.length === 4 ? written : written + (written < 70 ? 2000 : 1900);
  return utc(full, index, Number(day), clock.map(Number));
}

let lastSecond = Number.NaN;
let lastText = '';

/** `Sun, 06 Nov 1994 08:49:37 GMT`. Mostly the same second is asked for again. */
export function formatHttpDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second === lastSecond) return lastText;
  lastSecond = second;
  lastText = new Date(second * 1000).toUTCString();
  return lastText;
}

export type IsoTime = Readonly<{ ms: number; ticks: number }>; // ticks: the 100 ns beyond ms, 0 to 9999

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?(?:Z|([+-])(\d\d):(\d\d)))?$/;

/** `2030-01-01`, `2030-01-01T12:00Z`, `2030-01-01T12:00:00.1234567+01:00` and what lies between. */
export function parseIsoTime(text: string): IsoTime | undefined {
  const parts = iso.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', sign, ...offset] = parts;
  const whole = utc(Number(year), Number(month) - 1, Number(day), [hour, minute, second].map(Number));
  const [hours = 0, minutes = 0] = sign ? offset.map(Number) : [];
  if (whole === undefined || hours > 14 || minutes > 59) return undefined;
  const digits = fraction.padEnd(7, '0');
  const east = (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return { ms: whole - east + Number(digits.slice(0, 3)), ticks: Number(digits.slice(3)) };
}

/** `2030-01-01T12:00:00.1234567Z`: always seven digits. */
export function formatIsoTime({ ms, ticks }: IsoTime): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastIsoSecond) {
    lastIsoSecond = second;
    lastIsoText = new Date(second * 1000).toISOString().slice(0, -'.000Z'.length);
  }
  const fraction = (ms - second * 1000) * 10_000 + ticks;
  return `${lastIsoText}.${String(fraction).padStart(7, '0')}Z`;
}

/** Many that are told together lie in one second. */
let lastIsoSecond = Number.NaN;
let lastIsoText = '';

function utc(year: number, month: number, day: number, clock: readonly number[]): number | undefined {
  const [hour = 0, minute = 0, second = 0] = clock;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day); // Date.UTC takes the years 0 to 99 for 1900 to 1999
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}
