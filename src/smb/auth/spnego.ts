// SPNEGO (RFC 4178), the wrapping around NTLM: which mechanism, then its tokens, then a check over the
// list of mechanisms so that nobody could have shortened it on the way.
//
// Clients send a GSS-API wrapped NegTokenInit first, then NegTokenResp; the Linux kernel sends NTLM tokens
// with no wrapping at all, and is answered in kind.

import { contentOf, type Element, element, readElement, readElements } from '../../base/der.js';

const oid = 0x06;
const octets = 0x04;
const enumerated = 0x0a;
const sequence = 0x30;
const context = (n: number) => 0xa0 + n;

const spnegoOid = Buffer.from('2b0601050502', 'hex');
const ntlmOid = Buffer.from('2b06010401823702020a', 'hex');
const ntlmSignature = Buffer.from('NTLMSSP\0');

export type ClientToken = Readonly<
  | { form: 'raw'; token: Buffer }
  | { form: 'init'; mechTypes: Buffer; offersNtlm: boolean; prefersNtlm: boolean; token: Buffer | undefined }
  | { form: 'response'; token: Buffer | undefined; mechListMic: Buffer | undefined }
>;

/** What a client sent, or nothing if it is none of the three forms. */
export function readToken(from: Buffer): ClientToken | undefined {
  if (from.subarray(0, 8).equals(ntlmSignature)) return { form: 'raw', token: from };
  const outer = readElement(from);
  if (outer?.tag === 0x60) return readInit(outer.content);
  if (outer?.tag === context(1)) return readResponse(outer.content);
  return undefined;
}

function readInit(from: Buffer): ClientToken | undefined {
  const parts = readElements(from);
  if (!contentOf(parts?.[0], oid)?.equals(spnegoOid)) return undefined;
  const fields = sequenceIn(contentOf(parts?.[1], context(0)));
  if (!fields) return undefined;
  const mechTypes = readElement(field(fields, 0) ?? Buffer.alloc(0));
  const mechs = mechTypes?.tag === sequence ? readElements(mechTypes.content) : undefined;
  if (!mechTypes || !mechs) return undefined;
  const isNtlm = (mech: Element | undefined) => contentOf(mech, oid)?.equals(ntlmOid) === true;
  return {
    form: 'init',
    mechTypes: mechTypes.whole,
    offersNtlm: mechs.some(isNtlm),
    prefersNtlm: isNtlm(mechs[0]),
    token: octetsIn(field(fields, 2)),
  };
}

function readResponse(from: Buffer): ClientToken | undefined {
  const fields = sequenceIn(from);
  if (!fields) return undefined;
  return { form: 'response', token: octetsIn(field(fields, 2)), mechListMic: octetsIn(field(fields, 3)) };
}

function sequenceIn(content: Buffer | undefined): Element[] | undefined {
  const inner = content && contentOf(readElement(content), sequence);
  return inner && readElements(inner);
}

function field(fields: readonly Element[], n: number): Buffer | undefined {
  return fields.find(({ tag }) => tag === context(n))?.content;
}

function octetsIn(content: Buffer | undefined): Buffer | undefined {
  return content && contentOf(readElement(content), octets);
}

/** What the server offers in its answer to NEGOTIATE: NTLM alone. */
export function offerToken(): Buffer {
  const mechTypes = element(context(0), element(sequence, element(oid, ntlmOid)));
  const hint = element(0x1b, Buffer.from('not_defined_in_RFC4178@please_ignore'));
  const hints = element(context(3), element(sequence, element(context(0), hint)));
  return element(0x60, element(oid, spnegoOid), element(context(0), element(sequence, mechTypes, hints)));
}

export type NegState = 'completed' | 'incomplete' | 'request mic';
const negStates = { completed: 0, incomplete: 1, 'request mic': 3 } as const;

/** The server's later answers. The mechanism is named in the first of them only. */
export function responseToken(answer: {
  state: NegState;
  nameMechanism: boolean;
  token?: Buffer | undefined;
  mechListMic?: Buffer | undefined;
}): Buffer {
  const fields = [element(context(0), element(enumerated, Buffer.from([negStates[answer.state]])))];
  if (answer.nameMechanism) fields.push(element(context(1), element(oid, ntlmOid)));
  if (answer.token) fields.push(element(context(2), element(octets, answer.token)));
  if (answer.mechListMic) fields.push(element(context(3), element(octets, answer.mechListMic)));
  return element(context(1), element(sequence, ...fields));
}
