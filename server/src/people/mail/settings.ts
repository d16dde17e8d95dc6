import { getMailSettings, type MailSettings, updateMailSettings } from '@vitrine/contract/mail';
import type { Static } from 'typebox';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, readSite, writeSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { checkRemovals } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { type MailServer, readMailServer, type Sender } from '../../platform/mail/address.ts';
import { recordEvent } from '../audit/record.ts';
import { seal, unseal } from '../identity/seal.ts';

/** How the library sends mail: the environment takes precedence over stored settings. */
export interface Mail {
  source: 'environment' | 'library';
  server: MailServer;
  from: Sender;
  /** The library's public address, or null: then mail has no links. */
  baseUrl: string | null;
  siteName: string;
}

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

export const SMTP_PURPOSE = 'smtp';
/** The stored mail settings. */
const parts = ['smtp_url', 'from_address', 'from_name'] as const;

interface Stored {
  smtp_url?: string;
  from_address?: string;
  from_name?: string;
}

function textOf(value: unknown, key: keyof Stored): string | null {
  const text = typeof value === 'object' && value !== null ? Reflect.get(value, key) : null;
  return typeof text === 'string' && text !== '' ? text : null;
}

/** The server and the sender, each from the environment first. */
async function readParts({ db, config, secretKey }: MailDeps) {
  const stored = await readSetting(db, 'mail');
  const sealed = textOf(stored, 'smtp_url');
  const read =
    sealed === null ? null : readMailServer(unseal(secretKey, SMTP_PURPOSE, Buffer.from(sealed, 'base64')));
  const kept = read === null || 'fault' in read ? null : read;
  const server = config.mail.server ?? kept;
  const source: Mail['source'] = config.mail.server === null ? 'library' : 'environment';
  return {
    source,
    server,
    address: config.mail.from?.address ?? textOf(stored, 'from_address'),
    name: config.mail.from?.name ?? textOf(stored, 'from_name'),
  };
}

/**
 * Returns how mail is sent, or null while it is disabled. The default sender is the server's user, or `vitrine` at its
 * host.
 */
export async function readMail(deps: MailDeps): Promise<Mail | null> {
  const { source, server, address, name } = await readParts(deps);
  if (server === null) return null;
  const { base_url: baseUrl, site_name: siteName } = await readSite(deps);
  const user = server.user?.includes('@') === true ? server.user : null;
  const host = baseUrl === null ? server.host : new URL(baseUrl).hostname;
  const from = { address: address ?? user ?? `vitrine@${host}`, name: name ?? siteName };
  return { source, server, from, baseUrl, siteName };
}

async function show(deps: MailDeps): Promise<MailSettings> {
  const { source, server, address, name } = await readParts(deps);
  return {
    source: server === null ? null : source,
    host: server?.host ?? null,
    port: server?.port ?? null,
    secure: server?.secure ?? false,
    tls: server?.tls ?? null,
    user: server?.user ?? null,
    has_password: (server?.password ?? null) !== null,
    from_address: address,
    from_name: name,
  };
}

export const showMailSettings = handle(getMailSettings, async (deps) => ({
  status: 200,
  body: await show(deps),
}));

/** Writes under a lock of the row, so that concurrent changes of different settings are both kept. */
async function lockStored(db: Database): Promise<Stored> {
  await db
    .insertInto('settings')
    .values({ key: 'mail', value: '{}' })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'mail')
    .forUpdate()
    .executeTakeFirst();
  const stored: Stored = {};
  for (const key of parts) {
    const text = textOf(row?.value, key);
    if (text !== null) stored[key] = text;
  }
  return stored;
}

type MailChange = Static<typeof updateMailSettings.body>;

/** Returns the settings after the change: absent and null change nothing, `clear_*` and an empty name remove. */
function storedAfter(before: Stored, body: MailChange, sealed: string | undefined): Stored {
  const given: Stored = {
    ...(sealed === undefined ? {} : { smtp_url: sealed }),
    ...(body.from_address == null ? {} : { from_address: body.from_address }),
    ...(body.from_name == null ? {} : { from_name: body.from_name.trim() }),
  };
  const after: Stored = { ...before, ...given };
  for (const key of parts) if (body[`clear_${key}`] === true) delete after[key];
  return after;
}

export const changeMailSettings = handle(updateMailSettings, async (deps, { caller, body }) => {
  const { db, secretKey } = deps;
  checkRemovals(body, parts);
  const server = body.smtp_url == null ? null : readMailServer(body.smtp_url);
  if (server !== null && 'fault' in server) throw refuse('mail-server-invalid', { reason: server.fault });
  await db.transaction().execute(async (tx) => {
    const sealed =
      body.smtp_url == null ? undefined : seal(secretKey, SMTP_PURPOSE, body.smtp_url).toString('base64');
    await writeSetting(tx, 'mail', { ...storedAfter(await lockStored(tx), body, sealed) });
    await recordEvent(tx, caller, {
      event: 'system.mail.changed',
      metadata: {
        host: server?.host ?? null,
        cleared: body.clear_smtp_url === true,
        sender_cleared: body.clear_from_address === true || body.clear_from_name === true,
        from_address: body.from_address ?? null,
        from_name: body.from_name ?? null,
      },
    });
  });
  return { status: 200, body: await show(deps) };
});

/** Returns the domain of mail identifiers, which does not change over time. */
export function idHost({ baseUrl, from }: Mail): string {
  return baseUrl === null ? (from.address.split('@')[1] ?? 'localhost') : new URL(baseUrl).hostname;
}
