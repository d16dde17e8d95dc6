import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { PeerCaller } from '../../access/federation.ts';
import type { Budgets } from '../../core/budgets.ts';
import type { Deps } from '../../core/deps.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { prefersDocument } from '../../platform/http/prefers-document.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { listChanges, listSharesOf, resendChanges } from './changes.ts';
import { documentKinds, objectDocument } from './documents.ts';
import { sendBytes } from './files/serve.ts';
import { type Install, instanceDocument, readInstall } from './identity.ts';
import { receiveBatch, receiveOne } from './inbox/receive.ts';
import { actorDocument } from './keys.ts';
import { receiveConfirm, receiveUnpair } from './peers/handshake.ts';
import { receiveOffer } from './peers/offers.ts';
import { receiveRotation } from './peers/rotate.ts';
import { Rejection, rejectionCode } from './protocol/rejection.ts';
import { logRejection } from './rejections.ts';
import { readTeamDocument } from './shares/team.ts';
import { type SignedRequest, signedRequest } from './signed-request.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The largest body: a batch of envelopes. */
const MOST_BYTES = 1024 ** 2;

/**
 * Returns the peer that signed a request, by its pinned key or a former one in its grace period; throws Rejection
 * (FED-3).
 */
async function signingPeer(deps: Deps, request: SignedRequest): Promise<PeerCaller & { url: string }> {
  const url = /^(.*)\/federation\/instance#main-key$/.exec(request.keyId)?.[1] ?? '';
  const { rows } = await sql<{ id: string; state: string; public_key: Buffer; former: Buffer[] }>`
    select id, state, public_key, array(select k.public_key from federation_retired_keys k
      where k.owner = ${`${url}/federation/instance`} and k.accepted_until > now()) as former from federation_peers where instance_url = ${url}`.execute(
    deps.db,
  );
  const [peer] = rows;
  if (peer === undefined) throw new Rejection('unknown_peer', 'this install is not a peer');
  request.verify(request.keyId, [peer.public_key, ...peer.former]);
  // Checked after the signature, so that the list of peers is not revealed.
  if (peer.state !== 'connected') throw new Rejection('peer_disabled', 'the pairing is not in force');
  await deps.db
    .updateTable('federation_peers')
    .set({ last_seen_at: sql<string>`now()` })
    .where('id', '=', peer.id)
    .where((eb) =>
      eb.or([
        eb('last_seen_at', 'is', null),
        eb('last_seen_at', '<', sql<string>`now() - interval '1 minute'`),
      ]),
    )
    .execute();
  return { kind: 'peer', peerId: peer.id, url };
}

/**
 * Mounts the routes that other installs call (FED-2), at the addresses of the protocol: not below the base path, and
 * only for requests signed by a peer, except the documents about this install and its people. `noteOf` returns the
 * address of a post that people on other systems can follow.
 */
export async function serveFederation(
  server: FastifyInstance,
  deps: Deps,
  budgets: Budgets,
  noteOf: (postId: string) => Promise<string | null>,
): Promise<void> {
  const enter = (request: FastifyRequest) => budgets.spendOnEntry({}, clientAddress(request), null);
  const install = async () => {
    const found = await readInstall(deps);
    if (found === null) throw notFound();
    return found;
  };
  const enterSigned = (request: FastifyRequest) => budgets.spendUnverified(clientAddress(request));
  /** Requests whose signature is that of a peer: their refusals are always logged. */
  const verified = new WeakSet<SignedRequest>();
  const peerOf = async (signed: SignedRequest) => {
    const peer = await signingPeer(deps, signed);
    verified.add(signed);
    await budgets.spendPeer(peer.peerId);
    return peer;
  };
  /**
   * Answers a signed request; a rejection is answered with its reason, and logged for the operator. Of requests that no
   * peer has signed, few are logged (FED-95).
   */
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    run: (signed: SignedRequest) => Promise<unknown>,
  ) => {
    await enterSigned(request);
    const own = await install();
    let signed: SignedRequest | null = null;
    try {
      signed = signedRequest(request, own);
      return await run(signed);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      const isPeers = signed !== null && verified.has(signed);
      if (isPeers || (await budgets.mayLogRefusal(clientAddress(request))))
        await logRejection(deps, error, request);
      const { status, headers, body } = refuse(rejectionCode(error.reason));
      return reply
        .code(status)
        .headers(headers)
        .send({ ...body, detail: error.message });
    }
  };

  /** Returns the peer that signed a request; null for all others, which get what everyone gets. */
  const peerOrNull = async (request: FastifyRequest, own: Install) => {
    if (request.headers.signature === undefined) return null;
    try {
      return await peerOf(signedRequest(request, own));
    } catch (error) {
      if (error instanceof Rejection) return null;
      throw error;
    }
  };

  server.get('/federation/instance', async (request, reply) => {
    await enter(request);
    return reply.header('cache-control', 'no-cache').send(instanceDocument(await install()));
  });
  // Browsers get the page at the same address.
  server.get<{ Params: { username: string } }>('/users/:username', async (request, reply) => {
    const { headers, params } = request;
    if (!prefersDocument(headers, true)) return reply.callNotFound();
    await enter(request);
    const own = await readInstall(deps);
    const forPeer = own !== null && (await peerOrNull(request, own)) !== null;
    const found = own && (await actorDocument(deps, own.url, params.username, { forPeer }));
    if (found !== null) return reply.headers({ 'cache-control': 'no-cache', vary: 'Accept' }).send(found);
    // Without a preference, the page is as good an answer.
    if (prefersDocument(headers, false)) throw notFound();
    return reply.callNotFound();
  });
  // The addresses of objects are those of their pages. Previews of links send an unsigned `*/*`.
  for (const [path, kind] of Object.entries(documentKinds)) {
    server.get<{ Params: { id: string } }>(`/${path}/:id`, async (request, reply) => {
      const { headers, params } = request;
      if (!prefersDocument(headers, headers.signature !== undefined)) return reply.callNotFound();
      await enterSigned(request);
      if (!uuidPattern.test(params.id)) throw notFound();
      const own = await readInstall(deps);
      const peer = own && (await peerOrNull(request, own));
      const found = own && peer && (await objectDocument(deps, own, peer, { kind, id: params.id }));
      reply.headers({ 'cache-control': 'no-cache', vary: 'Accept, Signature' });
      if (found !== null) return reply.type('application/activity+json').send(found);
      const note = kind === 'post' ? await noteOf(params.id) : null;
      if (note === null) throw notFound();
      return reply.redirect(note);
    });
  }
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      ['application/json', 'application/activity+json', 'application/ld+json'],
      { parseAs: 'buffer', bodyLimit: MOST_BYTES },
      (_, body, done) => done(null, body),
    );
    // These come from libraries that are not peers yet, or whose key is unknown.
    scope.post('/federation/peers/offer', async (request, reply) => {
      await enter(request);
      return answer(request, reply, (signed) => receiveOffer(deps, signed, clientAddress(request)));
    });
    scope.post('/federation/peers/confirm', async (request, reply) => {
      await enter(request);
      return answer(request, reply, (signed) => receiveConfirm(deps, signed));
    });
    scope.post('/federation/peers/rotate', async (request, reply) => {
      await enter(request);
      return answer(request, reply, (signed) => receiveRotation(deps, signed));
    });
    scope.post('/federation/peers/unpair', (request, reply) =>
      answer(request, reply, async (signed) => receiveUnpair(deps, await peerOf(signed))),
    );
    scope.get<{ Params: { slug: string } }>('/federation/teams/:slug', (request, reply) =>
      answer(request, reply, async (signed) => {
        await peerOf(signed);
        const found = await readTeamDocument(deps.db, await install(), request.params.slug);
        if (found === null) throw notFound();
        return found;
      }),
    );
    scope.post('/federation/inbox', (request, reply) =>
      answer(request, reply, async (signed) => receiveOne(deps, await peerOf(signed), signed.json())),
    );
    scope.post('/federation/inbox/batch', (request, reply) =>
      answer(request, reply, async (signed) => receiveBatch(deps, await peerOf(signed), signed.json())),
    );
    scope.get('/federation/changes', (request, reply) =>
      answer(request, reply, async (signed) => listChanges(deps, await peerOf(signed), request.query)),
    );
    scope.get('/federation/changes/shares', (request, reply) =>
      answer(request, reply, async (signed) => listSharesOf(deps, await peerOf(signed), request.query)),
    );
    scope.post('/federation/changes/resend', (request, reply) =>
      answer(request, reply, async (signed) => resendChanges(deps, await peerOf(signed), signed.json())),
    );
    scope.get<{ Params: { hash: string }; Querystring: Record<string, unknown> }>(
      '/assets/:hash/bytes',
      async (request, reply) => {
        const { hash } = request.params;
        if (!/^[0-9a-f]{64}$/.test(hash)) {
          await enterSigned(request);
          throw notFound();
        }
        return answer(request, reply, async (signed) =>
          sendBytes(deps, await peerOf(signed), hash, request, reply),
        );
      },
    );
  });
}
