import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { openCapabilities } from '../access/capabilities.ts';
import { followLadder } from '../content/assets/previews/ladder.ts';
import { openServedAssets, type ServedAssets } from '../content/assets/served.ts';
import { openConversions } from '../content/downloads/conversions.ts';
import { firstPictures } from '../content/links/first-pictures.ts';
import { openWatermarks } from '../content/links/watermarks.ts';
import { oldAddresses } from '../content/public/old-addresses.ts';
import { publicHeads, servePublicFiles } from '../content/public/serve.ts';
import { placedFiles } from '../content/root-files/placed.ts';
import { openUploadBytes } from '../content/uploads/bytes.ts';
import { serveUploadOptions } from '../content/uploads/tus.ts';
import { openEncoder } from '../content/visual/encoder.ts';
import { openBudgets } from '../core/budgets.ts';
import { secretsOf } from '../core/config/known-secrets.ts';
import type { Config } from '../core/config.ts';
import { confinementOf } from '../core/decoder-confinement.ts';
import type { Deps, Passwords } from '../core/deps.ts';
import { openAssetTexts, openPostTexts } from '../core/kept-texts.ts';
import { openReplicaReads } from '../core/replica-reads.ts';
import { readSetting } from '../core/settings.ts';
import { openEntrance } from '../entry/entrance.ts';
import { mountOperations } from '../entry/mount.ts';
import { handlers } from '../entry/operations.ts';
import { findNote } from '../exchange/activitypub/find-note.ts';
import { serveActivityPub } from '../exchange/activitypub/routes.ts';
import { openRemoteOriginals } from '../exchange/federation/files/fetch.ts';
import { readInstallKey } from '../exchange/federation/identity.ts';
import { serveFederation } from '../exchange/federation/wire.ts';
import { type DecoderOptions, openDecoders } from '../media/decoding/decoders.ts';
import { openMetadataReader } from '../media/metadata/reader.ts';
import { serveManifest } from '../operate/appearance/manifest.ts';
import { openMetrics, type ServiceMetrics } from '../operate/metrics/open.ts';
import { createFirstAdministrator } from '../operate/set-up/first-administrator.ts';
import { rememberBucket, withFormerBuckets } from '../operate/storage/buckets.ts';
import { createAccount } from '../people/identity/accounts.ts';
import { readFormerKeys } from '../people/identity/former-keys.ts';
import { type Hashing, openHashing } from '../people/identity/hashing.ts';
import { readImportedKeys } from '../people/identity/imported-keys.ts';
import { openPasswords } from '../people/identity/password.ts';
import { openIdentityProviders } from '../people/identity/providers/open.ts';
import { keepSecretKey } from '../people/identity/secret-key.ts';
import { readPushKey } from '../people/push/key.ts';
import { serveScim } from '../people/scim/serve.ts';
import type { PoolActivity } from '../platform/database/activity.ts';
import type { Listener } from '../platform/database/listen.ts';
import type { Database } from '../platform/database/pool.ts';
import type { Replica } from '../platform/database/replica.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import { openUploadLimits } from '../platform/http/concurrency.ts';
import { openEventStreams } from '../platform/http/event-streams.ts';
import type { StopState } from '../platform/http/graceful-stop.ts';
import { serveHealth } from '../platform/http/health.ts';
import { serveMetrics } from '../platform/http/metrics.ts';
import { servePages } from '../platform/http/pages.ts';
import { openRateBudgets, unlimited } from '../platform/http/rate-limit.ts';
import { serveReference } from '../platform/http/reference.ts';
import { openServer, sendCookie } from '../platform/http/server.ts';
import { type Timeouts, usualTimeouts } from '../platform/http/slow-requests.ts';
import { serverFolder } from '../platform/installation.ts';
import { withPlacedFiles } from '../platform/storage/in-place.ts';
import { openSmallObjects } from '../platform/storage/small-objects.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Tracing } from '../platform/tracing/open.ts';
import { readVersion } from '../platform/version.ts';
import { keepNameKeys } from './name-keys.ts';
import { bringAnswers, pageHints } from './page-start.ts';

/** Returns the scramble key of a library without a configured one, generated on the first start and stored. */
async function keepScrambleKey(db: Database): Promise<string> {
  const made = JSON.stringify(randomBytes(32).toString('hex'));
  await db
    .insertInto('settings')
    .values({ key: 'scramble_key', value: made })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const kept = await readSetting(db, 'scramble_key');
  if (typeof kept !== 'string') throw new Error('the setting scramble_key is not a text');
  return kept;
}

/**
 * Hashes passwords under the configured scramble key, or a generated one (SETTING-6). A library that began with the
 * generated key and later got a configured one still verifies its earlier hashes, and so do the keys of systems that an
 * import took accounts from (SIGNIN-8).
 */
export async function openInstallPasswords(
  db: Database,
  hashing: Hashing,
  configured: string | null,
): Promise<Passwords> {
  const imported = () => readImportedKeys(db);
  if (configured === null) return openPasswords(hashing, await keepScrambleKey(db), imported);
  const kept = await readSetting(db, 'scramble_key');
  const own = typeof kept === 'string' ? [kept] : [];
  return openPasswords(hashing, configured, async () => [...own, ...(await imported())]);
}

/** Creates the administrator named in the environment, once, in a library without one (SETTING-7). */
async function createConfiguredAdministrator(
  db: Database,
  config: Config,
  passwords: Passwords,
): Promise<void> {
  const { admin } = config;
  if (admin === null) return;
  await createFirstAdministrator(db, (tx) => createAccount(tx, passwords, { ...admin, role: 'admin' }));
}

/** Creates the dependencies of use cases, over an open database and storage. */
export async function openDeps(
  db: Database,
  stored: Storage,
  config: Config,
  log: FastifyBaseLogger,
  {
    hashing = openHashing(),
    decoding = {},
    media,
    listener = null,
    served = openServedAssets(db),
  }: Pick<ServiceOptions, 'hashing' | 'decoding' | 'media'> & {
    listener?: Listener | null;
    served?: ServedAssets;
  } = {},
): Promise<Deps> {
  // A process with another key must not change anything.
  const secretKey = await keepSecretKey(db, config);
  await keepNameKeys({ db, log });
  await rememberBucket(db, config.s3);
  const storage = withPlacedFiles(await withFormerBuckets(db, stored, config.s3), placedFiles(db));
  const passwords = await openInstallPasswords(db, hashing, config.scrambleKey);
  await createConfiguredAdministrator(db, config, passwords);
  const { ffmpeg, libreoffice, ghostscript } = config;
  const decoders =
    media?.decoders ??
    openDecoders({
      ffmpeg,
      libreoffice,
      ghostscript,
      confinement: confinementOf(config, storage),
      ...decoding,
    });
  const previews = await followLadder(db, listener);
  // Reading never writes, so the key is there before anyone asks.
  await readInstallKey({ db, secretKey });
  await readPushKey({ db, secretKey });
  const deps: Deps = {
    db,
    storage,
    small: openSmallObjects(storage),
    served,
    texts: openAssetTexts(),
    postTexts: openPostTexts(),
    config,
    get ladder() {
      return previews.current().rungs;
    },
    uploads: openUploadBytes({ db, storage }),
    watermarks: openWatermarks({ db, storage, decoders }),
    conversions: openConversions({ db, storage, decoders }),
    decoders,
    metadata: media?.metadata ?? openMetadataReader({ decoders }),
    secretKey,
    formerSecretKeys: await readFormerKeys(db, secretKey),
    passwords,
    providers: openIdentityProviders(config.identityProviders, log),
    capabilities: openCapabilities(),
    encoder: config.encoderUrl === null ? null : await openEncoder(config.encoderUrl, log),
    originals: openRemoteOriginals(() => deps),
    log,
  };
  return deps;
}

export interface ServiceOptions {
  db: Database;
  listener: Listener;
  storage: Storage;
  config: Config;
  /** The statements and connections of `db`, for metrics; null: they are not measured. */
  activity?: PoolActivity | null;
  /** How passwords are hashed; defaults to the usual cost. */
  hashing?: Hashing;
  /** How untrusted bytes are decoded; defaults to the usual limits. */
  decoding?: DecoderOptions;
  /** Open decoders and metadata reader to use, which the caller closes. Defaults to new ones. */
  media?: Pick<Deps, 'decoders' | 'metadata'>;
  /** A streaming replica that serves reads; null: there is none. */
  replica?: Replica | null;
  /** What traces requests; null: nothing is traced. */
  tracing?: Tracing | null;
  /** Time limits of clients; defaults to the usual ones. */
  timeouts?: Timeouts;
  /** Whether other processes serve the same port. */
  hasSiblings?: boolean;
  /** Directory of the built web app; defaults to that of this repository. */
  webDir?: string;
}

export interface OpenService {
  server: FastifyInstance;
  deps: Deps;
  /** Null unless a token for metrics is configured. */
  metrics: ServiceMetrics | null;
  /** Announces that the server is about to close: readiness fails, and responses close their connections. */
  announceStop(): void;
}

/** Creates the service over an open database, ready to listen. */
export async function openService(options: ServiceOptions): Promise<OpenService> {
  const { db, listener, storage, config } = options;
  const stop: StopState = { announced: false };
  const tracing = options.tracing ?? null;
  const server = await openServer({
    logLevel: config.logLevel,
    secrets: secretsOf(config),
    strictTransport: config.baseUrl?.startsWith('https:') ?? false,
    maxFileBytes: config.maxFileBytes,
    trustedProxies: config.trustedProxies,
    stop,
    tracing,
    stopWithinMs: config.stopSeconds * 1000,
    connectionsPerAddress: config.concurrency.connectionsPerAddress,
    timeouts: options.timeouts ?? usualTimeouts,
  });
  const rates = config.rateLimits ? openRateBudgets(db, server.log) : unlimited;
  server.addHook('onClose', () => rates.close());
  const served = openServedAssets(db);
  const deps = await openDeps(db, storage, config, server.log, { ...options, served });
  const metrics = await openMetrics(server, deps, options.activity ?? null, options.hasSiblings ?? false);
  const budgets = openBudgets(rates, config.limits);
  const replica = options.replica ?? null;
  const reads = replica === null ? null : openReplicaReads(deps, replica);
  const entrance = openEntrance(deps, { served, budgets, hasReplica: replica !== null });
  const streams = openEventStreams(listener);
  metrics?.count(streams);
  if (reads !== null) metrics?.observeReads(reads);
  // Event streams do not end by themselves; the server would wait for them.
  server.addHook('preClose', async () => streams.close());
  mountOperations(server, handlers, {
    deps,
    reads,
    streams,
    uploads: openUploadLimits(config.concurrency),
    ...entrance,
    sendCookie: (reply, cookie) => sendCookie(reply, cookie, entrance.isHttps(reply.request)),
  });
  await serveFederation(server, deps, budgets, (postId) => findNote(deps, postId));
  await serveActivityPub(server, deps, budgets);
  await serveScim(server, deps, budgets);
  serveUploadOptions(server, deps);
  serveHealth(server, { db, storage, replica }, stop, {
    metrics: config.metricsToken === null ? 'off' : 'on',
    traces: tracing === null ? 'off' : 'on',
  });
  serveMetrics(server, config.metricsToken, metrics?.collect ?? null);
  const countFile = (request: FastifyRequest) => budgets.spendFile(clientAddress(request));
  serveReference(server, readVersion(), {
    countRequest: (request) => budgets.spendOnEntry({}, clientAddress(request), null),
    countFile,
  });
  servePublicFiles(server, deps, budgets);
  serveManifest(server, deps, budgets);
  await servePages(server, options.webDir ?? join(serverFolder, '../web/build'), {
    headOf: publicHeads(deps, budgets),
    hintsOf: pageHints,
    answersFor: (request) =>
      bringAnswers(server, request, async (token) => {
        await budgets.spendOnEntry({}, clientAddress(request), null);
        return firstPictures(deps, token);
      }),
    redirectOf: oldAddresses(deps, entrance.enter),
    // Pages of share links, invitations, new passwords and confirmations.
    isUnlisted: (path) => /^\/(s|invite|reset|verify)\//.test(path),
    countFile,
  });
  return {
    server,
    deps,
    metrics,
    announceStop() {
      stop.announced = true;
    },
  };
}
