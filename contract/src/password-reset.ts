import { Type } from 'typebox';
import { NewPassword } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { closed } from './values.ts';

/** A username or a confirmed e-mail. */
export const AccountLogin = closed({ login: Type.String({ minLength: 1, maxLength: 500 }) });

/** The response to requests that reveal nothing: whether something follows is said by mail. */
export const Accepted = closed({});

export const requestPasswordReset = operation({
  id: 'requestPasswordReset',
  method: 'POST',
  path: '/auth/password-reset',
  tag: 'Sign-in',
  summary: 'Ask for a new password by mail',
  description:
    'Mails an address at which a new password can be set to every active account with this username or confirmed e-mail. The response is the same for every name. An account gets at most three such mails an hour, and none if a directory or a provider signs it in.',
  door: 'open',
  scope: 'none',
  budget: 'signIn',
  example: { login: 'mara' },
  body: AccountLogin,
  responses: { 202: Accepted },
  errors: [],
});

export const completePasswordReset = operation({
  id: 'completePasswordReset',
  method: 'POST',
  path: '/auth/password-reset/{token}',
  tag: 'Sign-in',
  summary: 'Set a new password',
  description:
    'Sets the password with the token of a mail, ends all sessions of the account and lifts a sign-in lock. The second factor stays. Unknown, used and expired tokens are the same 404; a token is valid for an hour.',
  door: 'open',
  scope: 'none',
  budget: 'signIn',
  unlisted: true,
  params: closed({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
  body: closed({ password: NewPassword }),
  responses: { 204: noContent },
  errors: ['not-found'],
});
