// What things may be called. Each rule gives the refusal for a name, or nothing if it is one.
//
//   account            3 to 24 of a-z 0-9
//   container          3 to 63 of a-z 0-9 -, ends are letters or digits, no two dashes together;
//   queue, share       a container may also be one of the service's own: $root, $web, $logs ...
//   table              a letter, then 2 to 62 letters and digits; not `tables`
//   blob               1 to 1024 characters, 254 segments at most; without / in $root
//   component          1 to 255 UTF-16 units: a file or directory in a share, without \ / : | < > * ? "
//   path               components, 2048 units and 250 directories at most
//   block id           Base64 of 1 to 64 bytes
//
// A length that is wrong is OutOfRangeInput, a character InvalidResourceName: what the live service says of
// containers and queues.

import { type ErrorCode, invalidParameter, StorageError } from './errors.js';

export type NameProblem = Readonly<{ code: ErrorCode; message?: string | undefined }>;
export type NameRule = (name: string) => NameProblem | undefined;

const badCharacter: NameProblem = { code: 'InvalidResourceName' };
const badLength: NameProblem = { code: 'OutOfRangeInput' };

export const rootContainer = '$root';
export const webContainer = '$web';
export const logsContainer = '$logs';

/** The service makes them itself; a client can neither create nor delete them. */
const systemContainers = [logsContainer, '$blobchangefeed', '$changefeed'];
const specialContainers = [rootContainer, webContainer, ...systemContainers];

export function isSystemContainer(name: string): boolean {
  return systemContainers.includes(name);
}

const loneSurrogate = /\p{Surrogate}/u;

const accountName: NameRule = (name) => {
  if (name.length < 3 || name.length > 24) return badLength;
  return /^[a-z0-9]+$/.test(name) ? undefined : badCharacter;
};

const dashedName: NameRule = (name) => {
  if (name.length < 3 || name.length > 63) return badLength;
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? undefined : badCharacter;
};

const containerName: NameRule = (name) => (specialContainers.includes(name) ? undefined : dashedName(name));

const newContainerName: NameRule = (name) => (isSystemContainer(name) ? badCharacter : containerName(name));

const tableName: NameRule = (name) => {
  if (name.length < 3 || name.length > 63) return badLength;
  return /^[A-Za-z][A-Za-z0-9]*$/.test(name) && name.toLowerCase() !== 'tables' ? undefined : badCharacter;
};

/** The reference excludes U+FFFE and U+FFFF too, but clients list such names, which a listing escapes. */
const unsupportedInBlob =
  /[\u0080\u0082-\u008c\u008e\u0091-\u009c\u009e\u009f\ufdd1-\ufddc\ufdde-\ufdef\ufff0-\ufffd]/;

const blobName: NameRule = (name) => {
  if (name === '' || name.length > 1024 || name.split('/', 255).length > 254) return { code: 'InvalidUri' };
  return unsupportedInBlob.test(name) || loneSurrogate.test(name) ? badCharacter : undefined;
};

const rootBlobName: NameRule = (name) => (name.includes('/') ? badCharacter : blobName(name));

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const forbiddenInFile = /["\\/:|<>*?\u0000-\u001f\u007f]/;
const reservedInFile = /^(lpt[1-9]|com[1-9]|prn|aux|nul|con|clock\$|\.\.?)$/i;

const componentName: NameRule = (name) => {
  if (name === '' || name.length > 255 || forbiddenInFile.test(name)) return badCharacter;
  return reservedInFile.test(name) || loneSurrogate.test(name) ? badCharacter : undefined;
};

/** From the root, its components joined by `/`; the root itself is empty. The last one is not a directory. */
const pathName: NameRule = (path) => {
  if (path === '') return undefined;
  if (path.length > 2048) return { code: 'InvalidFileOrDirectoryPathName' };
  const components = path.split('/');
  if (components.length - 1 > 250) {
    return {
      code: 'InvalidFileOrDirectoryPathName',
      message: 'File or directory path has too many subdirectories.',
    };
  }
  return components.map(componentName).find((problem) => problem !== undefined);
};

export const nameRules = {
  account: accountName,
  container: containerName,
  /** One that a client may create or delete. */
  newContainer: newContainerName,
  blob: blobName,
  /** A blob in $root. */
  rootBlob: rootBlobName,
  queue: dashedName,
  table: tableName,
  share: dashedName,
  component: componentName,
  path: pathName,
} as const satisfies Record<string, NameRule>;

/** Throws the refusal of a name that breaks its rule. */
export function checkName(kind: keyof typeof nameRules, name: string): void {
  const problem = nameRules[kind](name);
  if (problem) throw new StorageError(problem.code, { message: problem.message });
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function isBlockId(text: string): boolean {
  if (text === '' || text.length > 88 || !base64.test(text)) return false;
  const length = (text.length / 4) * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
  return length <= 64;
}

/** Throws if the query parameter `blockid` is none. */
export function checkBlockId(text: string): void {
  if (!isBlockId(text)) throw invalidParameter('blockid', text, 'Not a valid base64 string.');
}
