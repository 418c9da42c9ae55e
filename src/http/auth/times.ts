// The two ways in which requests write a time, read strictly: HTTP dates, and the ISO 8601 forms that a
// SAS and a stored policy may use. Milliseconds since 1970; nothing if the text is no time.

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const fixed = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const rfc850 = /^[A-Z][a-z]{5,8}, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/;

/** `Sun, 06 Nov 1994 08:49:37 GMT`, or the older `Sunday, 06-Nov-94 08:49:37 GMT`. */
export function parseHttpDate(text: string): number | undefined {
  const parts = fixed.exec(text) ?? rfc850.exec(text);
  if (parts === null) return undefined;
  const [, day, month = '', year = '', hour, minute, second] = parts;
  const at = months.indexOf(month);
  if (at % 3 !== 0) return undefined;
  const written = Number(year);
  const full = year.length === 4 ? written : written + (written < 70 ? 2000 : 1900);
  return time(full, at / 3, Number(day), Number(hour), Number(minute), Number(second));
}

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?(?:Z|([+-])(\d\d):(\d\d)))?$/;

/** `2030-01-01`, `2030-01-01T12:00Z`, `2030-01-01T12:00:00.1234567+01:00` and what lies between. */
export function parseIsoTime(text: string): number | undefined {
  const parts = iso.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', sign, ...offset] = parts;
  const whole = time(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  if (whole === undefined) return undefined;
  const ms = whole + Number(fraction.padEnd(3, '0').slice(0, 3));
  if (sign === undefined) return ms;
  const [hours = 0, minutes = 0] = offset.map(Number);
  if (hours > 14 || minutes > 59) return undefined;
  return ms - (sign === '+' ? 1 : -1) * (hours * 60 + minutes) * 60_000;
}

/** Nothing for a day that is not in the calendar. */
function time(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second, 0);
}
