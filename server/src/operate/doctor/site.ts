import { stat } from 'node:fs/promises';
import { sql } from 'kysely';
import { administers } from '../../access/accounts.ts';
import { readablePosts } from '../../access/posts.ts';
import { readSetting, readSwitches } from '../../core/settings.ts';
import {
  isDirectoryTransient,
  isKeyOf,
  keyFile,
  parseStored,
  readKeyOf,
} from '../../people/identity/secret-key.ts';
import { sentence, sentenceCount, verbatim } from '../../platform/language/sentence.ts';
import { type Examination, type Finding, passed, problem, warning } from './check.ts';

const MOST_COUNTED = 100_000;
const NAMED = 5;

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The public address. Passwords and sessions are sent to it, so it should use https unless it is this machine. */
export function judgeAddress(address: string | null, publicMode: boolean): Finding {
  if (address === null) {
    return warning(
      sentence(
        'the public address is not set: links in messages cannot be created, and the session cookie is not Secure',
      ),
      sentence('Set VITRINE_BASE_URL, or the public address under Site.'),
    );
  }
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:' || isThisMachine(hostname)) return passed(verbatim(address));
  const detail = sentence(
    '{address} is not https: anyone on the network path can read passwords and take over sessions',
    { address },
  );
  const remedy = sentence('Put a reverse proxy with a TLS certificate in front, and use an https address.');
  return publicMode ? problem(detail, remedy) : warning(detail, remedy);
}

const publicAddress: Examination = {
  code: 'public_address',
  title: sentence('Public address'),
  async look({ db, config }) {
    const stored = await readSetting(db, 'base_url');
    const address = config.baseUrl ?? (typeof stored === 'string' ? stored : null);
    return judgeAddress(address, (await readSwitches(db)).publicMode);
  },
};

const publicMode: Examination = {
  code: 'public_mode',
  title: sentence('Public mode'),
  async look({ db }) {
    if (!(await readSwitches(db)).publicMode) return passed(sentence('off: everyone has to sign in'));
    const { rows } = await sql<{ n: number }>`select count(*) as n from (
      select from posts p where ${readablePosts({ kind: 'anonymous' })} limit ${MOST_COUNTED + 1}) x`.execute(
      db,
    );
    const n = rows[0]?.n ?? 0;
    return passed(
      n > MOST_COUNTED
        ? sentence('on: anyone can see more than {count} posts', { count: MOST_COUNTED })
        : sentenceCount(n, ['on: anyone can see # post', 'on: anyone can see # posts']),
    );
  },
};

const scrambleKey: Examination = {
  code: 'scramble_key',
  title: sentence('Scramble key'),
  async look({ db, config }) {
    const hasStoredKey = typeof (await readSetting(db, 'scramble_key')) === 'string';
    const remedy = sentence(
      'Restore the settings table from a backup, or set VITRINE_SCRAMBLE_KEY to the previous key.',
    );
    if (config.scrambleKey === null && !hasStoredKey)
      return problem(sentence('the scramble key is missing: passwords cannot be verified'), remedy);
    return passed(
      config.scrambleKey === null
        ? sentence('stored in the database and included in its backups')
        : sentence('the scramble key is VITRINE_SCRAMBLE_KEY; keep it with your backups'),
    );
  },
};

const broken = sentence('second factors, stored passwords and keys of federation cannot be read');

/** RUN-41: the key exists outside the database, is private, and is the one that sealed the rows. */
const secretKey: Examination = {
  code: 'secret_key',
  title: sentence('Secret key'),
  async look({ db, config }) {
    const stored = parseStored(await readSetting(db, 'secret_key'));
    const own = stored === null || typeof stored === 'string' ? null : await readKeyOf(stored, config);
    const file = keyFile(config.dataDir);
    if (typeof stored === 'string') {
      return warning(
        sentence('still in the database, beside the secrets that it seals'),
        isDirectoryTransient(config)
          ? sentence(
              'Set VITRINE_SECRET_KEY to the value of the setting secret_key, and restart; see docs/operations.md.',
            )
          : sentence('Restart Vitrine, which moves it to {file}.', { file }),
      );
    }
    const remedy = sentence(
      'Copy secret.key from another process of this library to {file}, or set VITRINE_SECRET_KEY to its content.',
      { file },
    );
    if (own === null || stored === null)
      return problem(sentence('there is no {file}: {result}', { file, result: broken }), remedy);
    if (!isKeyOf(own.key, stored))
      return problem(
        sentence('{source} is not the key of this library: {result}', { source: own.source, result: broken }),
        remedy,
      );
    const found = await stat(file).catch(() => null);
    if (found !== null && (found.mode & 0o077) !== 0)
      return problem(
        sentence('other users of this machine may read {file}', { file }),
        verbatim(`chmod 600 ${file}`),
      );
    return passed(
      sentence('{source}; keep a copy, because only encrypted backups contain it', { source: own.source }),
    );
  },
};

const secondFactors: Examination = {
  code: 'second_factor',
  title: sentence('Second factors'),
  async look({ db }) {
    const { rows } = await sql<{ username: string; n: number }>`
      select u.username, count(*) over () as n from users u
      where ${administers} and u.provider = 'password' and not exists (
        select from two_factor f where f.user_ref = u.ref and f.confirmed_at is not null)
      order by u.username limit ${NAMED}`.execute(db);
    const [first] = rows;
    if (first === undefined) {
      const some = await sql<{ ref: number }>`select u.ref from users u where ${administers} limit 1`.execute(
        db,
      );
      return passed(
        some.rows.length === 0
          ? sentence('there is no administrator yet')
          : sentence('every administrator has one'),
      );
    }
    const names = rows.map(({ username }) => username);
    const more = first.n - rows.length;
    return warning(
      more > 0
        ? sentence('administrators without a second factor: {names} and {count} more', { names, count: more })
        : sentence('administrators without a second factor: {names}', { names }),
      sentence('Ask them to turn on a second factor under Settings, Security.'),
    );
  },
};

const rateLimits: Examination = {
  code: 'rate_limits',
  title: sentence('Rate limits'),
  look: async ({ config }) =>
    config.rateLimits
      ? passed(sentence('on'))
      : warning(sentence('off: sign-in attempts are unlimited'), sentence('Remove VITRINE_RATE_LIMITS=off.')),
};

/** Whether messages leave the library; only a test message shows whether they arrive. */
function judgeMail(isSetUp: boolean): Finding {
  return isSetUp
    ? passed(sentence('set up'))
    : warning(
        sentence('not set up: nothing is sent by e-mail'),
        sentence('Configure a mail server under Mail or in the environment, and send a test message.'),
      );
}

const mail: Examination = {
  code: 'mail',
  title: sentence('Mail'),
  async look({ db, config }) {
    const { rows } =
      await sql`select from settings where key = 'mail' and value ->> 'smtp_url' is not null`.execute(db);
    return judgeMail(config.mail.server !== null || rows.length > 0);
  },
};

export const siteExaminations = [
  publicAddress,
  publicMode,
  mail,
  scrambleKey,
  secretKey,
  secondFactors,
  rateLimits,
];
