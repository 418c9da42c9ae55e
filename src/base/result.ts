// What a pure rule gives back: a value, or the code of a refusal that a client can react to.

export type Result<Value, Code extends string> = Ok<Value> | Refusal<Code>;
export type Ok<Value> = Readonly<{ ok: true; value: Value }>;
export type Refusal<Code extends string> = Readonly<{ ok: false; code: Code }>;

export function ok<Value>(value: Value): Ok<Value> {
  return { ok: true, value };
}

export function refuse<Code extends string>(code: Code): Refusal<Code> {
  return { ok: false, code };
}
