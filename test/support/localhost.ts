// Names under `localhost` mean this machine, also where the system's resolver does not know them.

import dns from 'node:dns';

const { lookup } = dns;

type Callback = (
  error: Error | null,
  address: string | { address: string; family: number }[],
  family?: number,
) => void;

function resolve(name: string, ...rest: unknown[]): void {
  const callback = rest.at(-1) as Callback;
  const options = (rest.length > 1 ? rest[0] : {}) as { all?: boolean };
  if (!name.endsWith('.localhost')) Reflect.apply(lookup, dns, [name, ...rest]);
  else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
}

/** From now on, in this process. */
export function knowLocalhost(): void {
  Object.assign(dns, { lookup: resolve });
}
