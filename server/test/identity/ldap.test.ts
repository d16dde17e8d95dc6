import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import type { IdentityProvider } from '../../src/core/identity-provider.ts';
import { filterFor, type LdapSettings } from '../../src/core/identity-provider-settings.ts';
import { examineDirectory } from '../../src/people/identity/providers/ldap.ts';
import { openIdentityProviders } from '../../src/people/identity/providers/open.ts';
import { sentenceOfError } from '../../src/platform/faults/worded-errors.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { type Answered, comparable } from '../support/client.ts';
import {
  type Directory,
  type DirectoryEntry,
  type DirectoryOptions,
  makeCertificate,
  openDirectory,
} from '../support/directory.ts';
import { password as localPassword, openLibrary } from '../support/library.ts';
import { setStatus } from '../support/people.ts';

const base = 'dc=example,dc=org';
const people = `ou=people,${base}`;
const service = { dn: `cn=vitrine,ou=services,${base}`, password: 'the secret of the service' };

function person(
  uid: string,
  password: string | null,
  attributes: DirectoryEntry['attributes'] = {},
): DirectoryEntry {
  const usual = { objectClass: ['inetOrgPerson'], uid: [uid], cn: [`${uid} Example`] };
  return { dn: `uid=${uid},${people}`, attributes: { ...usual, ...attributes }, password };
}

/** Returns entries of the same name with these passwords. */
const twins = (...passwords: string[]) =>
  passwords.map((password, n) => ({ ...person('twin', password), dn: `uid=twin,ou=${n},${people}` }));

const mara = () =>
  person('mara', 'maras password', {
    entryUUID: ['5f2b8f4e-0000-4000-8000-000000000001'],
    displayName: ['Mara Lind'],
    mail: ['mara@example.org'],
  });

const opened: Directory[] = [];

const scratch = await mkdtemp(join(tmpdir(), 'vitrine-ldap-'));
const ours = await makeCertificate(['DNS:localhost', 'IP:127.0.0.1']);
const other = await makeCertificate(['DNS:directory.example.org']);
await writeFile(join(scratch, 'ours.pem'), ours.cert);
await writeFile(join(scratch, 'other.pem'), other.cert);

afterEach(async () => {
  for (const directory of opened.splice(0)) await directory.close();
});
afterAll(() => rm(scratch, { recursive: true }));

/** Opens a directory with the service and these entries. */
function openWith(entries: DirectoryEntry[], options: Partial<DirectoryOptions> = {}): Promise<Directory> {
  const own = { dn: service.dn, attributes: { cn: ['vitrine'] }, password: service.password };
  return openDirectory({ base, searcher: service.dn, ...options, entries: [own, ...entries] });
}

/** The same, until the end of the test. */
async function open(entries: DirectoryEntry[], options: Partial<DirectoryOptions> = {}): Promise<Directory> {
  const directory = await openWith(entries, options);
  opened.push(directory);
  return directory;
}

function settingsFor(port: number, more: Record<string, string> = {}): Record<string, string> {
  return {
    VITRINE_IDENTITY_PROVIDERS: 'ldap',
    VITRINE_LDAP_URL: `ldap://127.0.0.1:${port}`,
    VITRINE_LDAP_SEARCH_BASE: base,
    VITRINE_LDAP_BIND_DN: service.dn,
    VITRINE_LDAP_BIND_PASSWORD: service.password,
    ...more,
  };
}

/** Opens the provider with these settings, like the service. */
function providerFor(env: Record<string, string>, change: Partial<LdapSettings> = {}): IdentityProvider {
  const { identityProviders } = readConfig(env, scratch, () => true);
  const changed = identityProviders.map((one) => (one.name === 'ldap' ? { ...one, ...change } : one));
  const provider = openIdentityProviders(changed, { warn: () => {} }).get('ldap');
  if (provider === undefined || provider === 'not set up') throw new Error('ldap is not open');
  return provider;
}

/** Opens a directory with one entry that everyone may search, and a provider without an account of its own. */
async function openAnonymous(entry: DirectoryEntry) {
  const directory = await openDirectory({ base, entries: [entry] });
  opened.push(directory);
  const { VITRINE_LDAP_BIND_DN, VITRINE_LDAP_BIND_PASSWORD, ...env } = settingsFor(directory.port);
  return { directory, provider: providerFor(env) };
}

/** Listens on a free port, and returns it. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Returns the error with its causes. */
async function complaint(work: Promise<unknown>): Promise<string> {
  const messages: string[] = [];
  try {
    await work;
  } catch (error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause) messages.push(cause.message);
  }
  return messages.join(': ');
}

// ldapjs parses the first two differently, so only their text is compared.
test('the filter escapes what has a meaning in it', () => {
  const expected = {
    '\\6dara': '(uid=\\5c6dara)',
    '\u{1f600}': '(uid=\u{1f600})',
    'a(b)*\\\0': '(uid=a\\28b\\29\\2a\\5c\\00)',
    "$&$`$'$1": "(uid=$&$`$'$1)",
    '{username}': '(uid={username})',
  };
  const found = Object.keys(expected).map((username) => filterFor('(uid={username})', username));
  expect(found).toEqual(Object.values(expected));
});

describe('the provider', () => {
  test('returns the person once the directory accepts their password', async () => {
    const directory = await open([mara(), person('otto', 'ottos password')]);
    const provider = providerFor(settingsFor(directory.port));
    expect(await provider.verify('mara', 'maras password')).toEqual({
      subject: '5f2b8f4e-0000-4000-8000-000000000001',
      username: 'mara',
      fullname: 'Mara Lind',
      email: 'mara@example.org',
    });
    expect(await provider.verify('MARA', 'maras password')).toMatchObject({ username: 'mara' });
    expect(await provider.verify('mara', 'Maras password')).toBeNull();
    expect(await provider.verify('nobody', 'maras password')).toBeNull();
    // Without other attributes, the DN is the permanent id.
    expect(await provider.verify('otto', 'ottos password')).toEqual({
      subject: `uid=otto,${people}`,
      username: 'otto',
      fullname: 'otto Example',
      email: null,
    });
  });

  test('supports the attributes of Active Directory: sAMAccountName and a binary objectGUID', async () => {
    const guid = Buffer.from('33221100554477668899aabbccddeeff', 'hex');
    const attributes = {
      sAMAccountName: ['Ada'],
      objectGUID: [guid],
      cn: ['Ada Byron'],
      mail: ['ada@example.org'],
    };
    const directory = await open([{ dn: `cn=Ada Byron,${people}`, attributes, password: 'adas password' }]);
    expect(await providerFor(settingsFor(directory.port)).verify('ada', 'adas password')).toEqual({
      subject: '00112233-4455-6677-8899-aabbccddeeff',
      username: 'Ada',
      fullname: 'Ada Byron',
      email: 'ada@example.org',
    });
  });

  test('uses the configured attributes and filter', async () => {
    const entry = person('x1', 'a password', {
      employeeNumber: ['17'],
      nick: ['zoë'],
      gecos: ['Zoë Ångström'],
      contact: ['zoe@example.org'],
      group: ['media'],
    });
    const outside = person('x2', 'a password', { nick: ['otto'], employeeNumber: ['18'] });
    const directory = await open([entry, outside]);
    const provider = providerFor(
      settingsFor(directory.port, {
        VITRINE_LDAP_USER_FILTER: '(&(group=media)(|(nick={username})(contact={username})))',
        VITRINE_LDAP_SUBJECT_ATTRIBUTE: 'EmployeeNumber',
        VITRINE_LDAP_USERNAME_ATTRIBUTE: 'nick',
        VITRINE_LDAP_FULLNAME_ATTRIBUTE: 'gecos',
        VITRINE_LDAP_EMAIL_ATTRIBUTE: 'contact',
      }),
    );
    const zoe = { subject: '17', username: 'zoë', fullname: 'Zoë Ångström', email: 'zoe@example.org' };
    expect(await provider.verify('ZOË', 'a password')).toEqual(zoe);
    expect(await provider.verify('zoe@example.org', 'a password')).toEqual(zoe);
    expect(await provider.verify('x1', 'a password')).toBeNull();
    expect(await provider.verify('otto', 'a password')).toBeNull();
  });

  test('throws if the configured id attribute is missing or has several values', async () => {
    const two = person('two', 'a password', { code: ['1', '2'] });
    const directory = await open([person('none', 'a password'), two]);
    const provider = providerFor(settingsFor(directory.port, { VITRINE_LDAP_SUBJECT_ATTRIBUTE: 'code' }));
    expect(await complaint(provider.verify('none', 'a password'))).toMatch('has no code');
    expect(await complaint(provider.verify('two', 'a password'))).toMatch('more than one code');
    expect(await provider.verify('none', 'wrong')).toBeNull();
  });

  test('searches anonymously without an account', async () => {
    const { directory, provider } = await openAnonymous(mara());
    expect(await provider.verify('mara', 'maras password')).toMatchObject({ username: 'mara' });
    expect(directory.asked[0]).toMatch(/^search /);
  });

  // SIGNIN-6
  test('refuses an empty password, which the directory itself accepts', async () => {
    const directory = await open([mara(), person('open', '')]);
    const provider = providerFor(settingsFor(directory.port));
    for (const username of ['mara', 'open', 'nobody'])
      for (const given of ['', '\0', '\0maras password', 'maras password\0'])
        expect([username, given, await provider.verify(username, given)]).toEqual([username, given, null]);
    expect(await provider.verify('mara', 'maras password')).not.toBeNull();
  });

  test('refuses an entry without a DN, whose bind would be anonymous', async () => {
    const { directory, provider } = await openAnonymous({ ...mara(), dn: '' });
    for (const password of ['', 'whatever', 'maras password'])
      expect(await provider.verify('mara', password)).toBeNull();
    expect(directory.asked.filter((line) => line === 'bind ')).toEqual([]);
  });

  test('finds no one for a name that is a filter, a pattern or disguised', async () => {
    const directory = await open([mara(), person('dollar', 'maras password')]);
    const provider = providerFor(settingsFor(directory.port));
    const filters = ['*', 'mar*', '*)(uid=*', 'mara)(uid=*', '*)(objectClass=*))(|(uid=*', '(uid=mara)'];
    const escapes = ['\\2a', 'mara\\', 'mara\0', '{username}', '$&', 'uid=mara', `uid=mara,${people}`];
    const blanks = ['', ' ', 'mara ', 'ma ra', 'mara\r\n', 'ma\u200bra', 'mara\u200f'];
    const names = [...filters, ...escapes, ...blanks, '\u{ff4d}ara', 'mara\ud800', 'x'.repeat(500)];
    for (const username of names) {
      directory.asked.length = 0;
      expect([username, await provider.verify(username, 'maras password')]).toEqual([username, null]);
      const searches = directory.asked.filter((line) => line.startsWith('search '));
      expect(searches).toEqual([
        expect.stringMatching(/^search \(\|\(uid=[^()*]*\)\(samaccountname=[^()*]*\)\)$/i),
      ]);
    }
  });

  test('signs in people with special characters in their names', async () => {
    const escaped = ['o(tto)', 'star*', 'back\\slash', "o'brien", 'a&b|c!', 'a=b', '$&', 'a,b'];
    const names = [...escaped, 'zoë', '\u5c71\u7530'];
    const entries = names.map((uid, n) => ({
      ...person(`person${n}`, 'a password'),
      attributes: { uid: [uid] },
    }));
    const directory = await open([...entries, mara()]);
    const provider = providerFor(settingsFor(directory.port));
    for (const uid of names) {
      expect(await provider.verify(uid, 'a password')).toMatchObject({ username: uid });
      expect([uid, await provider.verify(uid, 'maras password')]).toEqual([uid, null]);
    }
  });

  // SIGNIN-6
  test('refuses a name that matches two entries', async () => {
    for (const options of [{}, { sizeLimit: 2 }]) {
      const directory = await open(twins('one', 'two', 'three'), options);
      const provider = providerFor(settingsFor(directory.port));
      for (const given of ['one', 'two', 'three']) expect(await provider.verify('twin', given)).toBeNull();
    }
  });

  test('sends the same requests for every kind of failure', async () => {
    const directory = await open([mara(), ...twins('a password', 'a password')]);
    const provider = providerFor(settingsFor(directory.port));
    const shapeOf = async (username: string, password: string) => {
      directory.asked.length = 0;
      await provider.verify(username, password);
      await expect.poll(() => directory.connections()).toBe(0);
      return directory.asked.map((line) => line.replace(/ .*/, ''));
    };
    const right = ['bind', 'search', 'bind', 'unbind'];
    for (const [username, given] of [
      ['mara', 'maras password'],
      ['mara', 'wrong'],
      ['mara', ''],
      ['nobody', 'wrong'],
      ['twin', 'a password'],
      [' mara\u200f', 'wrong'],
    ] as const)
      expect([username, given, await shapeOf(username, given)]).toEqual([username, given, right]);
    directory.slowDown(60);
    const took = { mara: Infinity, nobody: Infinity };
    // The fastest of several rounds: one response more would take 60 ms in each.
    for (let round = 0; round < 3 || (round < 20 && Math.abs(took.mara - took.nobody) >= 60); round += 1)
      for (const username of ['mara', 'nobody'] as const)
        took[username] = Math.min(took[username], await timed(() => provider.verify(username, 'wrong')));
    expect(Math.abs(took.mara - took.nobody)).toBeLessThan(60);
  });
});

describe('an unavailable directory makes the provider throw', () => {
  test('when nothing listens at the address', async () => {
    const server = createServer();
    const provider = providerFor(settingsFor(await listen(server)));
    await close(server);
    const found = await complaint(provider.verify('mara', 'maras password'));
    expect(found).toMatch(/could not be asked: .*ECONNREFUSED/);
  });

  test('when it accepts connections and never answers', async () => {
    for (const security of ['none', 'starttls', 'tls'] as const) {
      const directory = await open([mara()], { security, certificate: ours });
      directory.fallSilent();
      const settings = settingsFor(directory.port);
      const provider = providerFor(settings, { security, authorities: ours.cert, timeoutMs: 200 });
      const took = await timed(() =>
        expect(provider.verify('mara', 'x')).rejects.toThrow('could not be asked'),
      );
      expect(took).toBeGreaterThan(150);
      expect(took).toBeLessThan(4000);
      await expect.poll(() => directory.connections()).toBe(0);
    }
  });

  test('when it never finishes TLS', async () => {
    const stuck = createServer((socket) => socket.on('error', () => {}).resume());
    const provider = providerFor(settingsFor(await listen(stuck)), { security: 'tls', timeoutMs: 200 });
    expect(await complaint(provider.verify('mara', 'x'))).toMatch('no connection within 200 ms');
    await close(stuck);
  });

  test('when its answers together exceed the time limit', async () => {
    const directory = await open([mara()]);
    directory.slowDown(150);
    const provider = providerFor(settingsFor(directory.port), { timeoutMs: 400 });
    const took = await timed(() =>
      expect(provider.verify('mara', 'maras password')).rejects.toThrow('could not be asked'),
    );
    expect(took).toBeLessThan(4000);
    const patient = providerFor(settingsFor(directory.port));
    expect(await patient.verify('mara', 'maras password')).toMatchObject({ username: 'mara' });
  });

  test('when it closes the connection', async () => {
    const directory = await open([mara()]);
    directory.slowDown(300);
    const asking = providerFor(settingsFor(directory.port)).verify('mara', 'maras password');
    const refused = expect(asking).rejects.toThrow('could not be asked');
    await expect.poll(() => directory.connections()).toBe(1);
    await directory.close();
    await refused;
  });

  test('when it rejects the search account, its search or the search base', async () => {
    const directory = await open([mara()]);
    for (const [env, message] of [
      [
        { VITRINE_LDAP_BIND_PASSWORD: 'not the secret' },
        `binding as ${service.dn}: the name or the password is wrong`,
      ],
      [
        { VITRINE_LDAP_BIND_DN: mara().dn, VITRINE_LDAP_BIND_PASSWORD: 'maras password' },
        `searching ${base}: access is denied (“InsufficientAccess`,
      ],
      [{ VITRINE_LDAP_SEARCH_BASE: 'dc=elsewhere' }, 'could not be asked'],
    ] as const) {
      const provider = providerFor(settingsFor(directory.port, env));
      expect(await complaint(provider.verify('mara', 'maras password'))).toContain(message);
    }
    // LANGUAGE-8: the doctor says it in the language of its reader.
    const wrong = settingsFor(directory.port, { VITRINE_LDAP_BIND_PASSWORD: 'not the secret' });
    const settings = readConfig(wrong, scratch, () => true).identityProviders.find(
      ({ name }) => name === 'ldap',
    );
    if (settings?.name !== 'ldap') throw new Error('there is no directory');
    const error = await examineDirectory(settings).catch((error: Error) => error);
    expect(saySentence('de', sentenceOfError(error))).toMatch(
      /^Anmeldung als .*: der Name oder das Passwort ist falsch \(„InvalidCredentialsError“\)$/,
    );
  });
});

describe.each(['tls', 'starttls'] as const)('over %s', (security) => {
  function settings(port: number, host: string, authorities: string | null): Record<string, string> {
    return settingsFor(port, {
      VITRINE_LDAP_URL: `${security === 'tls' ? 'ldaps' : 'ldap'}://${host}:${port}`,
      ...(security === 'starttls' ? { VITRINE_LDAP_STARTTLS: 'on' } : {}),
      ...(authorities === null ? {} : { VITRINE_LDAP_CA_FILE: authorities }),
    });
  }

  const asked = (directory: Directory) => directory.asked.filter((line) => line !== 'starttls');

  test('uses a directory with a trusted certificate, by name or by address', async () => {
    const directory = await open([mara()], { security, certificate: ours });
    for (const host of ['localhost', '127.0.0.1']) {
      const provider = providerFor(settings(directory.port, host, 'ours.pem'));
      expect(await provider.verify('mara', 'maras password')).toMatchObject({ username: 'mara' });
      expect(await provider.verify('mara', 'wrong')).toBeNull();
      await expect.poll(() => directory.connections()).toBe(0);
    }
  });

  test.each([
    ['vouched for by nobody we know', () => ours, null],
    ['vouched for by somebody else', () => ours, 'other.pem'],
    ['for another name', () => other, 'other.pem'],
  ])('a certificate %s closes the connection before any request', async (_, certificate, authorities) => {
    const directory = await open([mara()], { security, certificate: certificate() });
    for (const host of ['localhost', '127.0.0.1']) {
      const provider = providerFor(settings(directory.port, host, authorities));
      expect(await complaint(provider.verify('mara', 'maras password'))).toMatch(/certificate|altname/i);
      expect(asked(directory)).toEqual([]);
    }
  });

  test('sends nothing to a directory without TLS support', async () => {
    const directory = await open([mara()]);
    const provider = providerFor(settings(directory.port, 'localhost', 'ours.pem'), { timeoutMs: 500 });
    expect(await complaint(provider.verify('mara', 'maras password'))).toMatch('could not be asked');
    expect(asked(directory)).toEqual([]);
  });
});

describe('StartTLS', () => {
  // A client that kept these bytes would read an acceptance before the directory's refusal.
  test.each([2, 3])('ignores plain-text bytes injected after its response (message id %i)', async (id) => {
    const afterStartTls = Buffer.from(`301a02010${id}61150a01000400040e`, 'hex');
    const directory = await open([mara()], { security: 'starttls', certificate: ours, afterStartTls });
    const provider = providerFor(
      settingsFor(directory.port, {
        VITRINE_LDAP_URL: `ldap://localhost:${directory.port}`,
        VITRINE_LDAP_STARTTLS: 'on',
        VITRINE_LDAP_CA_FILE: 'ours.pem',
        VITRINE_LDAP_BIND_PASSWORD: 'not the secret',
      }),
    );
    expect(await complaint(provider.verify('mara', 'maras password'))).toMatch('InvalidCredentialsError');
    expect(directory.asked.filter((line) => line.startsWith('search '))).toEqual([]);
  });
});

const directory = await openWith([
  mara(),
  ...twins('a password', 'a password'),
  ...['race', 'rita', 'local', 'olga', 'quiet'].map((uid, n) =>
    person(uid, 'a password', { entryUUID: [`5f2b8f4e-0000-4000-8000-00000000010${n}`] }),
  ),
]);
const library = await openLibrary(settingsFor(directory.port, { VITRINE_IDENTITY_PROVIDERS: 'ldap, oidc' }));
const signIn = (body: Record<string, unknown>) =>
  library.anonymous().send('/auth/login', { method: 'POST', body });
const reference = comparable(await signIn({ username: 'nobody at all', password: 'wrong' }));

// SETUP-5
test('visitors learn that accounts of a directory can sign in', async () => {
  expect(await library.anonymous().ok('getSetupStatus')).toMatchObject({ directory_sign_in: true });
});

describe('POST /auth/login with a directory', () => {
  afterAll(() => directory.close());

  const bySubject = (username: string, password = 'a password') =>
    signIn({ username, password, provider: 'ldap' });

  function refOf(answer: Answered): unknown {
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return JSON.parse(answer.text).ref;
  }

  const accountsLike = (username: string) =>
    library.deps.db.selectFrom('users').selectAll().where('username', '=', username).execute();

  // SIGNIN-5
  test('creates a member account at the first sign-in only', async () => {
    const visitor = library.anonymous();
    const body = { username: 'mara', password: 'maras password', provider: 'ldap' };
    const user = await visitor.ok('login', { body });
    expect(user).toMatchObject({ username: 'mara', fullname: 'Mara Lind', email: 'mara@example.org' });
    expect(await visitor.ok('getSessionUser')).toEqual(user);
    expect(user.capabilities).toContain('posts.create');
    expect(refOf(await bySubject('MARA', 'maras password'))).toBe(user.ref);
    const [row, second] = await accountsLike('mara');
    expect(second).toBeUndefined();
    expect(row).toMatchObject({
      provider: 'ldap',
      provider_subject: '5f2b8f4e-0000-4000-8000-000000000001',
      password_hash: null,
    });
  });

  test('creates one account from two concurrent first sign-ins', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => bySubject('race')));
    expect(new Set(answers.map(refOf)).size).toBe(1);
    expect(await accountsLike('race')).toHaveLength(1);
  });

  // SIGNIN-5
  test('updates full name and e-mail, and keeps the account of a renamed person', async () => {
    const ref = refOf(await bySubject('rita'));
    const entry = directory.entries.find(({ dn }) => dn.startsWith('uid=rita,'));
    if (entry === undefined) throw new Error('no entry');
    entry.dn = `uid=rita.berg,ou=elsewhere,${base}`;
    Object.assign(entry.attributes, {
      uid: ['rita.berg'],
      displayName: ['Rita Berg'],
      mail: ['rita@example.org'],
    });
    expect(comparable(await bySubject('rita'))).toEqual(reference);
    const answer = await bySubject('rita.berg');
    expect(refOf(answer)).toBe(ref);
    expect(JSON.parse(answer.text)).toMatchObject({ fullname: 'Rita Berg', email: 'rita@example.org' });
    delete entry.attributes.displayName;
    delete entry.attributes.mail;
    const { text } = await bySubject('rita.berg');
    expect(JSON.parse(text)).toMatchObject({ fullname: 'rita Example', email: null });
  });

  // SIGNIN-5
  test('keeps accounts of the directory and local accounts of the same name apart', async () => {
    const local = await library.join('Local');
    refOf(await bySubject('olga'));
    for (const [username, password, provider] of [
      ['local', 'a password', 'ldap'],
      ['local', localPassword, 'ldap'],
      ['local', 'a password', undefined],
      ['olga', 'a password', undefined],
      ['olga', 'a password', 'password'],
      ['olga', 'a password', ''],
    ] as const) {
      const body = { username, password, ...(provider === undefined ? {} : { provider }) };
      expect([body, comparable(await signIn(body))]).toEqual([body, reference]);
    }
    expect(refOf(await signIn({ username: 'local', password: localPassword }))).toBe(local.ref);
    expect(await accountsLike('local')).toEqual([]);
  });

  // SIGNIN-5
  test('refuses a disabled account', async () => {
    const ref = Number(refOf(await bySubject('quiet')));
    await setStatus(library, { ref }, 'disabled');
    expect(comparable(await bySubject('quiet'))).toEqual(reference);
  });

  test('returns the same 401 for every failure', async () => {
    expect(reference.status).toBe(401);
    for (const [username, password, provider] of [
      ['mara', 'wrong', 'ldap'],
      ['nobody', 'maras password', 'ldap'],
      ['mara', '', 'ldap'],
      ['ma\u200fra', 'maras password', 'ldap'],
      ['twin', 'a password', 'ldap'],
      ['mara', 'maras password', 'saml'],
      ['mara', 'maras password', '__proto__'],
    ] as const) {
      const body = { username, password, provider };
      expect([body, comparable(await signIn(body))]).toEqual([body, reference]);
    }
  });

  // SIGNIN-4
  test('returns 501 for a provider that is registered but not set up', async () => {
    const { status } = await signIn({ username: 'mara', password: 'maras password', provider: 'oidc' });
    expect(status).toBe(501);
  });

  // SIGNIN-6, SIGNIN-15
  test('counts no failure while the directory is down; local accounts still sign in', async () => {
    await library.join('here');
    const mara = library.anonymous();
    await mara.ok('login', { body: { username: 'mara', password: 'maras password', provider: 'ldap' } });
    await directory.close();
    expect(comparable(await bySubject('mara', 'maras password'))).toEqual(reference);
    const current = { current_password: 'maras password' };
    expect((await mara.refused('disableTwoFactor', { body: current })).status).toBe(503);
    const changed = { body: { ...current, new_password: 'another password' } };
    expect((await mara.refused('changePassword', changed)).status).toBe(409);
    const failures = library.deps.db.selectFrom('sign_in_failures').select('name');
    expect(await failures.where('name', '=', 'mara').execute()).toEqual([]);
    refOf(await signIn({ username: 'here', password: localPassword }));
  });
});
