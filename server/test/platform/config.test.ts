import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { whyNotListening } from '../../src/boot/main.ts';
import { type Config, ConfigError, readConfig } from '../../src/core/config.ts';
import { makeCertificate } from '../support/directory.ts';
import { rootPassword, rootSettings } from '../support/first-admin.ts';
import { startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const empty = await temporaryDirectory();
const furnished = await temporaryDirectory();
const { cert: certificate } = await makeCertificate(['DNS:localhost']);
await writeFile(join(furnished, 'ca.pem'), certificate);
await writeFile(join(furnished, 'no.pem'), 'hello');
await writeFile(join(furnished, 'empty.pem'), '');

const reachable = () => true;
const read = (env: Record<string, string>, directory = empty): Config =>
  readConfig(env, directory, reachable);

/** Returns the message of the refusal, which is all that the start prints. */
function refusalOf(env: Record<string, string>, directory = empty): string {
  try {
    read(env, directory);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(env)} is accepted`);
}

const bucket = {
  VITRINE_S3_BUCKET: 'studio-files',
  VITRINE_S3_ACCESS_KEY_ID: 'key',
  VITRINE_S3_SECRET_ACCESS_KEY: 'a secret',
};

// RUN-24
test('settings of traces name what is wrong, and never a secret', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';
  expect(refusalOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toMatch(
    /^OTEL_EXPORTER_OTLP_ENDPOINT/,
  );
  expect(refusalOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '2' })).toMatch(/from 0 to 1$/);
  const refusal = refusalOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'the-secret' });
  expect(refusal).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS must be a list/);
  expect(refusal).not.toContain('the-secret');
});

// STORAGE-1
describe('settings of a bucket', () => {
  test('need a bucket and both parts of the key, and may name another provider, a prefix and the direction', () => {
    const usual = {
      endpoint: null,
      region: 'us-east-1',
      bucket: 'studio-files',
      accessKeyId: 'key',
      secretAccessKey: 'a secret',
      prefix: '',
      forcePathStyle: false,
      writes: true,
      redirectSeconds: 0,
      publicEndpoint: null,
    };
    expect(read(bucket).s3).toEqual(usual);
    for (const name of Object.keys(bucket))
      expect(refusalOf({ ...bucket, [name]: '' })).toMatch(new RegExp(`^${name} is missing`));
    expect(refusalOf({ VITRINE_S3_REGION: 'eu-central-1' })).toMatch(/^VITRINE_S3_BUCKET is missing/);
    expect(refusalOf({ VITRINE_BACKUP_S3_REGION: 'eu-central-1' })).toMatch(
      /^VITRINE_BACKUP_S3_ACCESS_KEY_ID is missing: VITRINE_BACKUP_S3_REGION is set/,
    );
    const env = {
      ...bucket,
      VITRINE_S3_ENDPOINT: 'https://s3.example.org:9000/',
      VITRINE_S3_PREFIX: 'vitrine/files/',
      VITRINE_S3_WRITES: 'off',
    };
    const other = { endpoint: 'https://s3.example.org:9000', prefix: 'vitrine/files/', writes: false };
    expect(read(env).s3).toEqual({ ...usual, ...other, forcePathStyle: true });
    expect(read({ ...env, VITRINE_S3_FORCE_PATH_STYLE: 'off' }).s3?.forcePathStyle).toBe(false);
  });

  test.each(
    Object.entries({
      VITRINE_S3_ENDPOINT: ['s3.example.org', 'https://key:hidden@s3.example.org', 'https://a.b/files'],
      VITRINE_S3_BUCKET: ['Studio_Files'],
      VITRINE_S3_REGION: ['Frankfurt am Main'],
      VITRINE_S3_PREFIX: ['../files', '/files'],
      VITRINE_S3_FORCE_PATH_STYLE: ['yes'],
      VITRINE_S3_WRITES: ['maybe'],
      VITRINE_S3_REDIRECT_SECONDS: ['3601', '5 minutes'],
      VITRINE_S3_PUBLIC_ENDPOINT: ['https://key:hidden@s3.example.org'],
    }),
  )('refuse %s of %j with a line that names the setting', (name, values) => {
    for (const value of values) {
      const message = refusalOf({ ...bucket, [name]: value });
      expect(message).toMatch(new RegExp(`^${name} must be [^\n]+$`));
      expect(message).not.toMatch(/hidden|a secret/);
    }
  });
});

// SETTING-1
describe('settings', () => {
  const DATABASE_URL = 'postgres://vitrine@localhost/vitrine';
  const pooled = {
    DATABASE_URL,
    VITRINE_DATABASE_POOLING: 'transaction',
    VITRINE_DATABASE_DIRECT_URL: 'postgres://db/x',
  };
  const limits = {
    signIn: 10,
    signInAddress: 100,
    caller: 600,
    callerBytes: 6000,
    anonymous: 600,
    anonymousBytes: 6000,
    peer: 1200,
    loggedRefusals: 1,
    asks: 30,
    testMails: 10,
  };
  const concurrency = { connectionsPerAddress: 1000, uploadsPerAddress: 100, uploadsPerAccount: 20 };
  type SettingCase<K extends keyof Config> = [
    key: K,
    usual: Config[K],
    env: Record<string, string>,
    given: unknown,
  ];
  const rows: { [K in keyof Config]: SettingCase<K> }[keyof Config][] = [
    ['host', '127.0.0.1', { VITRINE_HOST: '0.0.0.0' }, '0.0.0.0'],
    ['port', 8420, { VITRINE_PORT: '80' }, 80],
    ['dataDir', join(empty, 'data'), { VITRINE_DATA: '/srv/pictures' }, '/srv/pictures'],
    ['dataDir', join(empty, 'data'), { VITRINE_DATA: '../library' }, join(empty, '../library')],
    ['baseUrl', null, { VITRINE_BASE_URL: 'https://pictures.example/' }, 'https://pictures.example'],
    ['databaseUrl', null, { DATABASE_URL }, DATABASE_URL],
    ['databaseDirectUrl', null, pooled, 'postgres://db/x'],
    [
      'databaseReplicaUrl',
      null,
      { DATABASE_URL, VITRINE_DATABASE_REPLICA_URL: 'postgres://replica/x' },
      'postgres://replica/x',
    ],
    ['demo', false, {}, false],
    ['postgresBinDir', null, { VITRINE_POSTGRES_BIN: '/usr/bin' }, '/usr/bin'],
    ['postgresUid', 65_521, { VITRINE_POSTGRES_UID: '70000' }, 70_000],
    ['decoderUid', 65_522, { VITRINE_DECODER_UID: '70001' }, 70_001],
    ['admin', null, rootSettings, { username: 'root', password: rootPassword }],
    ['scrambleKey', null, { VITRINE_SCRAMBLE_KEY: 'secret' }, 'secret'],
    [
      'secretKey',
      null,
      { VITRINE_SECRET_KEY: 'a key of exactly 32 characters..'.replaceAll(' ', '-') },
      'a-key-of-exactly-32-characters..',
    ],
    ['encoderUrl', null, { VITRINE_ENCODER_URL: 'http://encoder:8421/' }, 'http://encoder:8421'],
    ['ffmpeg', null, { VITRINE_FFMPEG: 'off' }, 'off'],
    ['libreoffice', null, { VITRINE_LIBREOFFICE: 'off' }, 'off'],
    ['ghostscript', null, { VITRINE_GHOSTSCRIPT: 'off' }, 'off'],
    ['logLevel', 'info', { VITRINE_LOG_LEVEL: 'warn' }, 'warn'],
    ['rateLimits', true, { VITRINE_RATE_LIMITS: 'off' }, false],
    [
      'limits',
      limits,
      {
        VITRINE_SIGN_IN_LIMIT: '3',
        VITRINE_CALLER_LIMIT: '4',
        VITRINE_ANONYMOUS_LIMIT: '5',
        VITRINE_ANONYMOUS_BYTES_LIMIT: '51',
        VITRINE_PEER_LIMIT: '42',
        VITRINE_TEST_MAIL_LIMIT: '2',
      },
      {
        ...limits,
        signIn: 3,
        caller: 4,
        callerBytes: 40,
        anonymous: 5,
        anonymousBytes: 51,
        peer: 42,
        loggedRefusals: 1,
        testMails: 2,
      },
    ],
    [
      'trustedProxies',
      [],
      { VITRINE_TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,2001:db8::1' },
      ['loopback', '10.0.0.0/8', '2001:db8::1'],
    ],
    [
      'concurrency',
      concurrency,
      {
        VITRINE_CONNECTIONS_PER_ADDRESS: '7',
        VITRINE_UPLOADS_PER_ADDRESS: '8',
        VITRINE_UPLOADS_PER_ACCOUNT: '9',
      },
      { connectionsPerAddress: 7, uploadsPerAddress: 8, uploadsPerAccount: 9 },
    ],
    ['impersonationMinutes', 30, { VITRINE_IMPERSONATION_MINUTES: '6' }, 6],
    ['maxFileBytes', 20 * 1024 ** 3, { VITRINE_MAX_FILE_BYTES: '1000' }, 1000],
    ['processes', 1, { VITRINE_PROCESSES: '4' }, 4],
    ['workerPort', null, { VITRINE_WORKER_PORT: '8430' }, 8430],
    ['jobs', null, { VITRINE_JOBS: 'render, tiles' }, ['render', 'tiles']],
    ['metricsToken', null, { VITRINE_METRICS_TOKEN: 'a-token-for-prometheus' }, 'a-token-for-prometheus'],
    ['drainSeconds', 0, { VITRINE_DRAIN_SECONDS: '5' }, 5],
    ['stopSeconds', 8, { VITRINE_STOP_SECONDS: '60' }, 60],
    ['reserveBytes', 512 * 1024 ** 2, { VITRINE_RESERVE_BYTES: '0' }, 0],
    ['sessionDays', 30, { VITRINE_SESSION_DAYS: '7' }, 7],
    [
      'federation',
      {
        privateAddresses: false,
        cacheBytes: 10_737_418_240,
        catchUpPages: 1000,
        catchUpSeconds: 60,
        catchUpIds: 100_000,
        resendSeconds: 60,
        renditionBytes: 134_217_728,
        openOffers: 100,
        openOffersPerAddress: 10,
      },
      {
        VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on',
        VITRINE_FEDERATION_CACHE_BYTES: '1000000',
        VITRINE_PEER_CATCH_UP_PAGES: '1',
        VITRINE_PEER_CATCH_UP_SECONDS: '2',
        VITRINE_PEER_CATCH_UP_IDS: '3',
        VITRINE_PEER_RESEND_SECONDS: '4',
        VITRINE_PEER_RENDITION_BYTES: '5',
        VITRINE_PEER_OFFERS: '6',
        VITRINE_PEER_OFFERS_PER_ADDRESS: '7',
      },
      {
        privateAddresses: true,
        cacheBytes: 1_000_000,
        catchUpPages: 1,
        catchUpSeconds: 2,
        catchUpIds: 3,
        resendSeconds: 4,
        renditionBytes: 5,
        openOffers: 6,
        openOffersPerAddress: 7,
      },
    ],
    [
      'mail',
      { server: null, from: null },
      {
        VITRINE_SMTP_URL: 'smtp://post:a%40b@mail.example:25?tls=required',
        VITRINE_MAIL_FROM: 'The Library <library@example.org>',
      },
      {
        server: {
          host: 'mail.example',
          port: 25,
          secure: false,
          tls: 'required',
          user: 'post',
          password: 'a@b',
        },
        from: { address: 'library@example.org', name: 'The Library' },
      },
    ],
    [
      'backupPassphrase',
      null,
      { VITRINE_BACKUP_PASSPHRASE: 'grey heron over the weir' },
      'grey heron over the weir',
    ],
    [
      'tracing',
      null,
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp/',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-team=two',
        OTEL_SERVICE_NAME: 'pictures',
        OTEL_TRACES_SAMPLER_ARG: '0.1',
      },
      {
        url: 'https://collector.example/otlp/v1/traces',
        headers: { 'x-key': 'a b', 'x-team': 'two' },
        serviceName: 'pictures',
        share: 0.1,
      },
    ],
    [
      'backupS3',
      null,
      {
        VITRINE_BACKUP_S3_ENDPOINT: 'https://s3.example',
        VITRINE_BACKUP_S3_ACCESS_KEY_ID: 'key',
        VITRINE_BACKUP_S3_SECRET_ACCESS_KEY: 'a secret',
      },
      expect.objectContaining({ endpoint: 'https://s3.example', region: 'us-east-1', forcePathStyle: true }),
    ],
    ['identityProviders', [], { VITRINE_IDENTITY_PROVIDERS: 'oidc' }, [{ name: 'oidc' }]],
    ['pushPrivateAddresses', false, { VITRINE_PUSH_PRIVATE_ADDRESSES: 'on' }, true],
    ['providerPrivateAddresses', false, { VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' }, true],
    // SSO-4
    [
      'oidc',
      null,
      {
        VITRINE_OIDC_ISSUER: 'https://login.example',
        VITRINE_OIDC_CLIENT_ID: 'vitrine',
        VITRINE_OIDC_ENABLED: 'off',
        VITRINE_OIDC_SCOPES: 'openid, groups',
        VITRINE_OIDC_ROLE_MAPPING: '[{"group": "chiefs", "role": "admin"}]',
      },
      {
        clientSecret: null,
        settings: {
          label: 'Single sign-on',
          issuer: 'https://login.example',
          client_id: 'vitrine',
          enabled: false,
          creation: 'invited',
          allowed_domains: [],
          claims: {},
          default_role: 'member',
          role_mapping: [{ group: 'chiefs', role: 'admin' }],
          team_mapping: [],
          trust_second_factor: false,
          clock_tolerance_seconds: 30,
          scopes: ['openid', 'groups'],
        },
      },
    ],
    [
      'saml',
      null,
      { VITRINE_SAML_METADATA_URL: 'https://login.example/metadata', VITRINE_SAML_SIGNED: 'both' },
      {
        label: 'Single sign-on',
        enabled: true,
        creation: 'invited',
        allowed_domains: [],
        claims: {},
        default_role: 'member',
        role_mapping: [],
        team_mapping: [],
        trust_second_factor: false,
        clock_tolerance_seconds: 30,
        metadata_url: 'https://login.example/metadata',
        signed: 'both',
      },
    ],
    ['s3', null, bucket, expect.objectContaining({ bucket: 'studio-files' })],
  ];

  // SETTING-1
  test('have their defaults', () => {
    const usual = Object.fromEntries(rows.map(([key, value]) => [key, value]));
    expect(read({})).toEqual({ ...usual, language: 'en' });
  });

  // SETTING-1
  test.each(rows)('%s is %j by default, and read from %j', (key, _, env, given) => {
    const { DATABASE_URL: databaseUrl = null } = env;
    expect(read(env)).toEqual({ ...read({}), databaseUrl, [key]: given });
  });

  // SETTING-4
  test('the database’s user decides where the library lives by default, for root alone', () => {
    const isRoot = process.getuid?.() === 0;
    const { dataDir } = readConfig({}, empty, () => false);
    expect(dataDir).toBe(isRoot ? '/var/lib/vitrine' : join(empty, 'data'));
    expect(readConfig({ VITRINE_DATA: 'here' }, empty, () => false).dataDir).toBe(join(empty, 'here'));
  });

  // SETTING-3
  test('ignore empty values and settings of other programs', () => {
    const env = { VITRINE_PORT: '', DATABASE_URL: '', VITRINE_ADMIN_USERNAME: '', PORT: '1', VITRINES: 'x' };
    expect(read(env)).toEqual(read({}));
  });

  // SETTING-2
  test.each(
    Object.entries({
      VITRINE_PORT: ['eighty', '-1', '65536', '80.5', '8e3', '0x50', ' 80', '80\n81'],
      VITRINE_CALLER_LIMIT: ['0'],
      VITRINE_ANONYMOUS_BYTES_LIMIT: ['many'],
      VITRINE_TRUSTED_PROXIES: [
        'proxy.example',
        ...['10.0.0.1 10.0.0.2', '10.0.0.1,', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.0/255.0.0.0', '10.1'],
        ...['::1/129', 'fe80::1%eth0', 'true'],
      ],
      VITRINE_BASE_URL: [
        ...['pictures.example', 'ftp://pictures.example', 'javascript:alert(1)', 'https://'],
        ...['https://pictures.example/?a=b', 'https://pictures.example/#top'],
        'https://mara:secret@pictures.example',
      ],
      VITRINE_ENCODER_URL: ['http://encoder:8421/?model=x'],
      VITRINE_FFMPEG: ['ffmpeg', '/nowhere/ffmpeg'],
      VITRINE_LIBREOFFICE: ['/nowhere/soffice'],
      VITRINE_GHOSTSCRIPT: ['/nowhere/gs'],
      VITRINE_SMTP_URL: [
        ...['mail.example', 'http://mail.example', 'smtp://', 'smtp://mail.example:99999'],
        ...['smtp://mail.example/path', 'smtp://mail.example?logger=true', 'smtp://mail.example?tls=perhaps'],
        ...['smtp://:secret@mail.example', 'smtp://a%0d%0aRCPT:b@mail.example'],
      ],
      VITRINE_MAIL_FROM: ['nobody', 'a@b, c@d', 'Evil\r\nBcc: x@y <a@b>'],
      VITRINE_LOG_LEVEL: ['loud', 'INFO'],
      VITRINE_RATE_LIMITS: ['false', 'no\nreally'],
      VITRINE_RESERVE_BYTES: ['-1'],
      VITRINE_MAX_FILE_BYTES: ['0', '20 GB', '99999999999999999999'],
      VITRINE_PROCESSES: ['0', '65'],
      VITRINE_JOBS: ['render,', 'All'],
      VITRINE_METRICS_TOKEN: ['too short', 'a token with blanks'],
      VITRINE_DRAIN_SECONDS: ['-1'],
      VITRINE_STOP_SECONDS: ['0'],
      VITRINE_SESSION_DAYS: ['0', '3651', 'forever'],
      DATABASE_URL: ['mysql://localhost/vitrine', 'localhost'],
      VITRINE_DATABASE_DIRECT_URL: ['localhost'],
      VITRINE_DATABASE_REPLICA_URL: ['localhost'],
      VITRINE_DATABASE_POOLING: ['statement'],
    }),
  )('%s of %j stops the start with one line that says which', (name, values) => {
    for (const value of values)
      expect(refusalOf({ [name]: value })).toMatch(new RegExp(`^[^\r\n]*${name}[^\r\n]*$`));
  });

  // SETTING-7
  test('refuse an administrator without a password, or with an unusable name', () => {
    const VITRINE_ADMIN_PASSWORD = 'secret words';
    for (const half of [{ VITRINE_ADMIN_USERNAME: 'root' }, { VITRINE_ADMIN_PASSWORD }])
      expect(refusalOf(half)).toMatch(
        /^VITRINE_ADMIN_USERNAME and VITRINE_ADMIN_PASSWORD (?!.*secret words).*$/,
      );
    for (const VITRINE_ADMIN_USERNAME of [' root', 'root ', ' ', 'r\noot', 'x'.repeat(101)])
      expect(refusalOf({ VITRINE_ADMIN_USERNAME, VITRINE_ADMIN_PASSWORD })).toMatch(
        /^VITRINE_ADMIN_USERNAME (?!.*secret words).*$/,
      );
  });

  // SETTING-8
  test('transaction pooling and a direct address stop the start without each other and without DATABASE_URL', () => {
    for (const half of ['VITRINE_DATABASE_POOLING', 'VITRINE_DATABASE_DIRECT_URL'])
      expect(refusalOf({ ...pooled, [half]: '' })).toContain('go together');
    expect(refusalOf({ ...pooled, DATABASE_URL: '' })).toContain('DATABASE_URL');
  });

  // SETTING-2
  test.each(['VITRINE_PROT', 'VITRINE_', 'VITRINE_port', 'VITRINE_ADMIN', 'VITRINE_PORT_'])(
    'an unknown name %s stops the start, even with an empty value',
    (name) => {
      expect(refusalOf({ [name]: '1' })).toBe(`unknown setting ${name}`);
      expect(refusalOf({ [name]: '' })).toBe(`unknown setting ${name}`);
    },
  );
});

describe('settings that only the start can validate', () => {
  // SETTING-2
  test('an unreachable database and missing programs stop it with one line that says which', async () => {
    for (const [name, value] of [
      ['DATABASE_URL', 'postgres://mara:hush@127.0.0.1:1/library'],
      ['VITRINE_POSTGRES_BIN', '/nowhere/bin'],
    ] as const) {
      const said = await startProcess(empty, { [name]: value }).catch(String);
      expect(said).toMatch(new RegExp(`^Error: ended with 1: ${name}: (?!.*hush)[^\\n]+$`));
    }
  });

  test('nothing can listen there, which is one line', () => {
    for (const [name, value, code] of [
      ['VITRINE_HOST', 'no.such.host.invalid', 'EAI_AGAIN'],
      ['VITRINE_HOST', '192.0.2.1', 'EADDRNOTAVAIL'],
      ['VITRINE_PORT', '80', 'EACCES'],
      ['VITRINE_PORT', '8420', 'EADDRINUSE'],
    ] as const) {
      const failure = Object.assign(new Error('listen failed'), { code });
      const refused = whyNotListening(failure, read({ [name]: value }));
      expect(refused).toBeInstanceOf(ConfigError);
      expect(String(refused)).toContain(name);
    }
  });
});

describe('identity providers', () => {
  const directory = {
    VITRINE_IDENTITY_PROVIDERS: 'ldap',
    VITRINE_LDAP_URL: 'ldap://directory.example.org',
    VITRINE_LDAP_SEARCH_BASE: 'ou=people,dc=example,dc=org',
  };
  const bind = { VITRINE_LDAP_BIND_DN: 'cn=vitrine,dc=example,dc=org', VITRINE_LDAP_BIND_PASSWORD: 'hush' };

  test('require an address and a search base of a directory, with defaults for the rest', () => {
    const usual = {
      name: 'ldap',
      host: 'directory.example.org',
      port: 389,
      security: 'none',
      authorities: null,
      bind: null,
      searchBase: 'ou=people,dc=example,dc=org',
      userFilter: '(|(uid={username})(sAMAccountName={username}))',
      subjectAttribute: null,
      usernameAttributes: ['uid', 'sAMAccountName'],
      fullnameAttributes: ['displayName', 'cn'],
      emailAttributes: ['mail'],
      timeoutMs: 5000,
    };
    expect(read(directory).identityProviders).toEqual([usual]);
    const env = {
      ...directory,
      ...bind,
      VITRINE_LDAP_URL: 'LDAPS://[2001:db8::1]:1636/',
      VITRINE_LDAP_CA_FILE: 'ca.pem',
      VITRINE_LDAP_USER_FILTER: '(&(memberOf:1.2.840.113556.1.4.1941:=cn=media,dc=x)(mail={username}))',
      VITRINE_LDAP_SUBJECT_ATTRIBUTE: 'employeeNumber',
      VITRINE_LDAP_USERNAME_ATTRIBUTE: 'nick',
      VITRINE_LDAP_FULLNAME_ATTRIBUTE: 'gecos',
      VITRINE_LDAP_EMAIL_ATTRIBUTE: 'contact',
    };
    expect(read(env, furnished).identityProviders).toEqual([
      {
        ...usual,
        host: '2001:db8::1',
        port: 1636,
        security: 'tls',
        authorities: certificate,
        bind: { dn: 'cn=vitrine,dc=example,dc=org', password: 'hush' },
        userFilter: env.VITRINE_LDAP_USER_FILTER,
        subjectAttribute: 'employeeNumber',
        usernameAttributes: ['nick'],
        fullnameAttributes: ['gecos'],
        emailAttributes: ['contact'],
      },
    ]);
  });

  test.each([
    ['ldap://d', {}, { host: 'd', port: 389, security: 'none' }],
    ['ldaps://d', {}, { host: 'd', port: 636, security: 'tls' }],
    ['ldap://127.0.0.1:3890', { VITRINE_LDAP_STARTTLS: 'on' }, { port: 3890, security: 'starttls' }],
  ])('%s with %j is %j', (url, more, expected) => {
    expect(read({ ...directory, ...more, VITRINE_LDAP_URL: url }).identityProviders).toMatchObject([
      expected,
    ]);
  });

  test('can be several, in the given order', () => {
    const env = { ...directory, VITRINE_IDENTITY_PROVIDERS: 'saml, ldap ,oidc' };
    expect(read(env).identityProviders.map(({ name }) => name)).toEqual(['saml', 'ldap', 'oidc']);
  });

  test.each(
    Object.entries({
      VITRINE_IDENTITY_PROVIDERS: ['LDAP', 'ldap,kerberos', 'ldap,', 'ldap,ldap', 'password'],
      VITRINE_LDAP_URL: [
        ...['', 'directory.example.org', 'http://directory.example.org', 'ldap://', 'ldap://d:0'],
        ...['ldap://d:65536', 'ldap://d/dc=example', 'ldap://d?uid', 'ldap://cn=x:hush@d'],
        ...['ldap://a ldap://b', 'ldap://a\n'],
      ],
      VITRINE_LDAP_SEARCH_BASE: ['', 'example.org'],
      VITRINE_LDAP_STARTTLS: ['true'],
      VITRINE_LDAP_CA_FILE: ['ca.pem'],
      VITRINE_LDAP_BIND_DN: ['cn=vitrine,dc=example,dc=org'],
      VITRINE_LDAP_BIND_PASSWORD: ['hush'],
      VITRINE_LDAP_USER_FILTER: [
        ...['(uid=mara)', '(uid={username}', '(uid={username}))', '(&(a=1)\n(uid={username}'],
        ...['({username}=mara)', '{username}'],
      ],
      VITRINE_LDAP_SUBJECT_ATTRIBUTE: ['*'],
      VITRINE_LDAP_USERNAME_ATTRIBUTE: ['uid,cn'],
      VITRINE_LDAP_FULLNAME_ATTRIBUTE: ['given name'],
      VITRINE_LDAP_EMAIL_ATTRIBUTE: ['(mail)'],
    }),
  )('%s of %j stops the start with one line that says which', (name, values) => {
    for (const value of values) {
      const message = refusalOf({ ...directory, [name]: value }, furnished);
      expect(message).toContain(name);
      expect(message).not.toMatch(/[\r\n]|hush/);
    }
  });

  // SETTING-2
  test('contradictory settings stop the start', () => {
    const secure = { ...directory, VITRINE_LDAP_URL: 'ldaps://d' };
    expect(refusalOf({ ...secure, VITRINE_LDAP_STARTTLS: 'on' })).toContain('VITRINE_LDAP_STARTTLS');
    expect(refusalOf({ VITRINE_LDAP_URL: 'ldap://d' })).toContain('VITRINE_LDAP_URL');
    expect(refusalOf({ ...directory, VITRINE_IDENTITY_PROVIDERS: 'oidc' })).toContain('VITRINE_LDAP_');
    expect(refusalOf({ VITRINE_IDENTITY_PROVIDERS: 'ldap' })).toContain('VITRINE_LDAP_URL');
  });

  test('refuse an invalid file of authorities', () => {
    for (const file of ['missing.pem', 'no.pem', 'empty.pem', '.']) {
      const env = { ...directory, VITRINE_LDAP_URL: 'ldaps://d', VITRINE_LDAP_CA_FILE: file };
      expect(refusalOf(env, furnished)).toMatch(/^VITRINE_LDAP_CA_FILE .*[^\n]$/);
    }
  });
});

describe('vitrine.env', () => {
  const keep = (text: string) => writeFile(join(furnished, 'vitrine.env'), text);

  // SETTING-1
  test('is read from the working directory, and the environment wins over it', async () => {
    // With a byte order mark, comments, quotes and lines of other programs.
    const lines = '\uFEFFVITRINE_PORT="81"\n# VITRINE_NOTHING\nexport VITRINE_HOST=::1\r\nOTHER\nX=1\n';
    await keep(`${lines}DATABASE_URL=postgresql://db/vitrine\n`);
    const databaseUrl = 'postgresql://db/vitrine';
    expect(read({}, furnished)).toMatchObject({ port: 81, host: '::1', databaseUrl });
    expect(read({ VITRINE_PORT: '82', DATABASE_URL: 'postgres://env/x' }, furnished)).toMatchObject({
      port: 82,
      host: '::1',
      databaseUrl: 'postgres://env/x',
    });
  });

  test('follows the same rules', async () => {
    await keep('VITRINE_PROT=9000\n');
    expect(refusalOf({}, furnished)).toBe('unknown setting VITRINE_PROT');
    await keep('VITRINE_PORT=ninety\n');
    expect(refusalOf({}, furnished)).toContain('VITRINE_PORT');
    expect(read({ VITRINE_PORT: '90' }, furnished).port).toBe(90);
    await keep('VITRINE_ADMIN_USERNAME=root\n');
    expect(refusalOf({}, furnished)).toContain('go together');
    const admin = { username: 'root', password: 'long enough' };
    expect(read({ VITRINE_ADMIN_PASSWORD: admin.password }, furnished).admin).toEqual(admin);
  });

  test('stops the start with a line that has no value', async () => {
    const other = '# fine\r\nVITRINE_PORT: 8080\r\n';
    for (const line of ['VITRINE_PORT', 'export VITRINE_PORT 8080', other, 'DATABASE_URL']) {
      await keep(line);
      expect(refusalOf({}, furnished)).toMatch(/^(VITRINE_PORT|DATABASE_URL) in vitrine\.env has no/);
    }
  });
});
