import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses, type TestServer } from '../../support/server.js';

const settings = { versioning: true, versionLevelImmutability: true };
const day = 24 * 3600;

const until = ({ clock }: TestServer, days: number) =>
  new Date(clock.now() + days * day * 1000).toUTCString();

const policy = (blob: Blob, days: number, mode = 'Unlocked', query = '', headers = {}) =>
  blob.put(`comp=immutabilityPolicies${query}`, {
    'x-ms-immutability-policy-until-date': until(blob.server, days),
    'x-ms-immutability-policy-mode': mode,
    ...headers,
  });
const hold = (blob: Blob, on: boolean, query = '') =>
  blob.put(`comp=legalhold${query}`, { 'x-ms-legal-hold': String(on) });

test('a snapshot that is held is not deleted with its blob, nor with the others', async (t) => {
  const { blob } = await given(t, { content: 'v1', settings });
  const snapshot = await blob.snapshot();
  await gives(hold(blob, true, `&snapshot=${snapshot}`), 200);
  for (const which of ['include', 'only']) {
    await refuses(blob.delete('', { 'x-ms-delete-snapshots': which }), 409, 'BlobImmutableDueToLegalHold');
  }
  assert.equal(await blob.text(), 'v1');
  await gives(hold(blob, false, `&snapshot=${snapshot}`), 200);
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
});

test('what a policy forbids, and what it lets through', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1', settings });
  const etag = await blob.etag();
  const set = await gives(policy(blob, 3, 'Locked'), 200);
  assert.equal(header(set, 'x-ms-immutability-policy-mode'), 'Locked');
  assert.equal(await blob.etag(), etag);
  const code = 'BlobImmutableDueToPolicy';
  await refuses(blob.delete(), 409, code);
  await refuses(blob.put('comp=metadata', { 'x-ms-meta-a': '1' }), 409, code);
  await refuses(blob.put('comp=properties', { 'x-ms-blob-content-type': 'a/b' }), 409, code);
  await refuses(blob.put('comp=snapshot'), 409, code);
  await refuses(blob.put('comp=expiry', { 'x-ms-expiry-option': 'NeverExpire' }), 409, code);
  await gives(blob.put('comp=tier', { 'x-ms-access-tier': 'Cool' }), 200);
  await gives(blob.put('comp=tags', {}, '<Tags><TagSet/></Tags>'), 204);
  await gives(blob.acquire(15), 201);
  await gives(blob.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  await gives(container.blob('copy').copyFrom(blob), 202);
  const version = header(await blob.head(), 'x-ms-version-id');
  await gives(blob.upload('v2'), 201);
  await refuses(blob.delete(`versionid=${version}`), 409, code);
  assert.equal(await blob.text(`versionid=${version}`), 'v1');
  server.pass(3 * day + 1);
  await gives(blob.delete(`versionid=${version}`), 202);
});

test('a locked policy is only extended; a condition is heeded', async (t) => {
  const { blob } = await given(t, { content: 'v1', settings });
  await gives(policy(blob, 5), 200);
  await gives(policy(blob, 2), 200);
  await gives(blob.delete('comp=immutabilityPolicies'), 200);
  await refuses(
    policy(blob, 5, 'Locked', '', { 'If-Unmodified-Since': new Date(0).toUTCString() }),
    412,
    'ConditionNotMet',
  );
  await gives(policy(blob, 5, 'Locked'), 200);
  await refuses(policy(blob, 2, 'Locked'), 409, 'BlobImmutableDueToPolicy');
  await refuses(policy(blob, 9, 'Unlocked'), 409, 'BlobImmutableDueToPolicy');
  await refuses(blob.delete('comp=immutabilityPolicies'), 409, 'BlobImmutableDueToPolicy');
  await gives(policy(blob, 9, 'Locked'), 200);
});

test('what is wrong with a policy is refused', async (t) => {
  const { blob, container } = await given(t, { content: 'v1', settings });
  await refuses(blob.put('comp=immutabilityPolicies'), 400, 'MissingRequiredHeader');
  await refuses(policy(blob, -1), 400, 'InvalidHeaderValue');
  await refuses(policy(blob, 1, 'Mutable'), 400, 'InvalidHeaderValue');
  await refuses(blob.put('comp=legalhold'), 400, 'MissingRequiredHeader');
  await refuses(blob.put('comp=legalhold', { 'x-ms-legal-hold': 'maybe' }), 400, 'InvalidHeaderValue');
  await refuses(policy(container.blob('none'), 1), 404, 'BlobNotFound');
  await refuses(hold(container.blob('none'), true), 404, 'BlobNotFound');
});

test('a put may bring its policy, which is told and listed', async (t) => {
  const { blob, container, server } = await given(t, { settings });
  const date = until(server, 2);
  await gives(
    blob.upload('v1', {
      'x-ms-immutability-policy-until-date': date,
      'x-ms-immutability-policy-mode': 'Locked',
      'x-ms-legal-hold': 'true',
    }),
    201,
  );
  const told = await gives(blob.get(), 200);
  assert.equal(header(told, 'x-ms-immutability-policy-until-date'), date);
  assert.equal(header(told, 'x-ms-legal-hold'), 'true');
  const { text } = await container.list('include=immutabilitypolicy,legalhold');
  assert.match(text, new RegExp(`<ImmutabilityPolicyUntilDate>${date}</ImmutabilityPolicyUntilDate>`));
  assert.match(text, /<ImmutabilityPolicyMode>Locked<\/ImmutabilityPolicyMode><LegalHold>true<\/LegalHold>/);
  assert.doesNotMatch((await container.list()).text, /Immutability|LegalHold/);
});

test('a copy may bring its policy and its hold', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1', settings });
  const date = until(server, 2);
  const headers = { 'x-ms-immutability-policy-until-date': date, 'x-ms-legal-hold': 'true' };
  for (const [name, more] of [
    ['copy', {}],
    ['at-once', { 'x-ms-requires-sync': 'true' }],
  ] as const) {
    const copy = container.blob(name);
    await gives(copy.copyFrom(blob, { ...headers, ...more }), 202);
    const told = await gives(copy.head(), 200);
    assert.equal(header(told, 'x-ms-immutability-policy-until-date'), date);
    assert.equal(header(told, 'x-ms-legal-hold'), 'true');
    await refuses(copy.delete(), 409, 'BlobImmutableDueToLegalHold');
  }
});

test('a container whose blobs can be held is deleted only when it is empty', async (t) => {
  const { blob, container } = await given(t, { content: 'v1', settings });
  await refuses(container.delete(), 409, 'ContainerImmutabilityPolicyLocked');
  const version = header(await blob.head(), 'x-ms-version-id');
  await gives(blob.delete(), 202);
  await refuses(container.delete(), 409, 'ContainerImmutabilityPolicyLocked');
  await gives(blob.delete(`versionid=${version}`), 202);
  await gives(container.delete(), 202);
});
