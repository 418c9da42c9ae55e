// What one client may take of the server, and for how long.

export interface SmbLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** From accepting a connection to its first message, and to a session. */
  readonly firstMessageMs: number;
  readonly sessionSetupMs: number;
  readonly idleMs: number;
  readonly sessionsPerConnection: number;
  readonly treesPerSession: number;
  readonly opensPerSession: number;
  readonly inFlightBytes: number;
  readonly waitsPerConnection: number;
  /** Durable handles that wait for their clients, of all. */
  readonly durables: number;
}

export const smbLimits: SmbLimits = {
  connections: 2000,
  connectionsPerAddress: 200,
  firstMessageMs: 10_000,
  sessionSetupMs: 30_000,
  idleMs: 15 * 60_000,
  sessionsPerConnection: 64,
  treesPerSession: 256,
  opensPerSession: 65_536,
  inFlightBytes: 64 * 1024 * 1024,
  waitsPerConnection: 512,
  durables: 16_384,
};
