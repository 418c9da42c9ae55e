// What the two halves of the codec agree on beside MessagePack itself. On disk: nothing here changes its
// meaning, and the order of types stays.

export const tag = {
  undefined: 0x00,
  map: 0x4d,
  set: 0x53,
  buffer: 0x42,
  bigint: 0x4e,
  text: 0x55,
  date: 0x64,
  array: 0x61,
} as const;

export const arrayTypes = [
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  ArrayBuffer,
  DataView,
] as const;
