// The refusals of authentication, in the words clients know from Azure: `AuthenticationErrorDetail` is an
// element of its own beside the message.

import { StorageError } from '../../services/common/errors.js';
import { HeaderedError } from '../errors.js';

/** 403: the request could not be authenticated, and why. */
export function unauthenticated(detail: string): StorageError {
  return new StorageError('AuthenticationFailed', { details: { AuthenticationErrorDetail: detail } });
}

/** 401: who asks must say who they are; the challenge tells where a token comes from. */
export function challenged(
  code: 'NoAuthenticationInformation' | 'InvalidAuthenticationInfo',
  challenge: string,
  detail?: string,
): StorageError {
  return new HeaderedError(code, ['WWW-Authenticate', challenge], {
    status: 401,
    details: detail === undefined ? undefined : { AuthenticationErrorDetail: detail },
  });
}
