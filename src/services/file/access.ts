// Access and share masks of an open file, as both protocols know them, and DOS attributes.

// biome-ignore format: a table
export const access = {
  readData: 0x1, writeData: 0x2, appendData: 0x4, readEa: 0x8, writeEa: 0x10, execute: 0x20,
  deleteChild: 0x40, readAttributes: 0x80, writeAttributes: 0x100,
  delete: 0x10000, readControl: 0x20000, writeDac: 0x40000, writeOwner: 0x80000, synchronize: 0x100000,
} as const;

export const allAccess = 0x001f01ff;

export const share = { none: 0, read: 1, write: 2, delete: 4, all: 7 } as const;

// biome-ignore format: a table
export const attribute = {
  readOnly: 0x1, hidden: 0x2, system: 0x4, directory: 0x10, archive: 0x20, normal: 0x80, temporary: 0x100,
  offline: 0x1000, notContentIndexed: 0x2000, noScrubData: 0x20000,
} as const;
