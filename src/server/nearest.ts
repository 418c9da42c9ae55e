// What a wrong word was meant to be.

/** The name that is nearest, if one is near enough to be meant. */
export function nearest(wrong: string, names: Iterable<string>): string | undefined {
  let best: { name: string; far: number } | undefined;
  for (const name of names) {
    const far = distance(wrong.toLowerCase(), name.toLowerCase());
    if (best === undefined || far < best.far) best = { name, far };
  }
  return best !== undefined && best.far <= Math.max(2, wrong.length / 3) ? best.name : undefined;
}

/** How many letters must be changed, put in or taken out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row[b.length] ?? 0;
}
