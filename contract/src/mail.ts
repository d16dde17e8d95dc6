import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, nullable, Removal } from './values.ts';

const Address = Type.String({ maxLength: 254, pattern: '^[^\\s@<>,;:"]+@[^\\s@<>,;:"]+$' });

/** The mail server, without its password. The environment takes precedence over stored settings. */
export const MailSettings = closed({
  /** The source of the server's address; null: no mail is sent. */
  source: nullable(Type.Enum(['environment', 'library'])),
  host: nullable(Type.String()),
  port: nullable(Type.Integer()),
  /** True if the connection is encrypted from the start (smtps). */
  secure: Type.Boolean(),
  /** The `tls` option of the address, `offered` by default. Null without a server. */
  tls: nullable(Type.Enum(['offered', 'required', 'off', 'unverified'])),
  user: nullable(Type.String()),
  has_password: Type.Boolean(),
  from_address: nullable(Type.String()),
  from_name: nullable(Type.String()),
});
export type MailSettings = Static<typeof MailSettings>;

export const getMailSettings = operation({
  id: 'getMailSettings',
  method: 'GET',
  path: '/admin/system/mail',
  tag: 'System',
  summary: 'Get the mail settings',
  description:
    'Returns how mail is sent, without the password. The environment takes precedence over stored settings.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: MailSettings },
  errors: [],
});

export const updateMailSettings = operation({
  id: 'updateMailSettings',
  method: 'PATCH',
  path: '/admin/system/mail',
  tag: 'System',
  summary: 'Change the mail settings',
  description: 'The server’s address is stored encrypted and is never returned with its password.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({
    /** `smtp://user:password@host:port` or `smtps://`; `?tls=required`, `off` or `unverified`. */
    smtp_url: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 1000 }))),
    from_address: Type.Optional(nullable(Address)),
    from_name: Type.Optional(nullable(Type.String({ maxLength: 100, pattern: '^[^\\r\\n]*$' }))),
    clear_smtp_url: Removal,
    clear_from_address: Removal,
    clear_from_name: Removal,
  }),
  responses: { 200: MailSettings },
  errors: ['exclusive-properties', 'mail-server-invalid'],
});

export const sendTestMail = operation({
  id: 'sendTestMail',
  method: 'POST',
  path: '/admin/system/mail/test',
  tag: 'System',
  summary: 'Send a test mail',
  description:
    'Sends a mail now. Returns 409 with the reason, such as a refused recipient and the SMTP code, but never the words of the server. At most ten an hour.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  budget: 'testMail',
  body: closed({ to: Address }),
  responses: { 200: closed({ accepted: Type.Boolean(), message: Type.String() }) },
  errors: ['mail-server-not-set-up', 'message-not-sent'],
});
