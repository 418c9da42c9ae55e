// How answers write a time. (auth/times.ts reads what requests write.)

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

let lastSecond = Number.NaN;
let lastText = '';

/** `Sun, 06 Nov 1994 08:49:37 GMT`, whole seconds, rounded down. Mostly the same second is asked for. */
export function formatHttpDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second === lastSecond) return lastText;
  const date = new Date(second * 1000);
  const two = (value: number) => (value < 10 ? `0${value}` : String(value));
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const day = `${days[date.getUTCDay()]}, ${two(date.getUTCDate())} ${months[date.getUTCMonth()]} ${year}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  lastSecond = second;
  lastText = `${day} ${time} GMT`;
  return lastText;
}

/** `2019-05-09T00:41:15.3008164Z`: ISO 8601 with seven digits of a second, from milliseconds with a fraction. */
export function formatIsoTime(ms: number): string {
  const whole = Math.floor(ms);
  const ticks = Math.floor((ms - whole) * 10_000 + 0.0001);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(ticks).padStart(4, '0')}Z`;
}
