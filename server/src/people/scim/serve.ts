import { basePath } from '@vitrine/contract/operations';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import type { Budgets } from '../../core/budgets.ts';
import type { Deps } from '../../core/deps.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { refuseMethods } from '../../platform/http/methods.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { refusalFor } from '../../platform/http/render-error.ts';
import { checkContent } from '../../platform/http/validate.ts';
import { bearerOf } from '../identity/authenticate.ts';
import { ownAddress } from '../identity/own-address.ts';
import { type Directory, findDirectory } from './directory.ts';
import { listResponse, resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { errorBody, notUnique, ScimFault, scimNotFound } from './fault.ts';
import { type Answer, type Asked, groupResource, userResource } from './resources.ts';

const PATH = `${basePath}/scim/v2`;
const MOST_BYTES = 1024 ** 2;
const TYPE = 'application/scim+json; charset=utf-8';

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

const found = (resources: readonly { id: string }[], id: string): object => {
  const resource = resources.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (resource === undefined) throw scimNotFound();
  return resource;
};

/** The descriptions of the service, by their paths. */
const descriptions: Readonly<Record<string, Answer>> = {
  '/ServiceProviderConfig': async ({ base }) => ({ body: serviceProviderConfig(base) }),
  '/ResourceTypes': async ({ base }) => {
    const types = resourceTypes(base);
    return { body: listResponse(types, types.length, 1) };
  },
  '/ResourceTypes/:id': async ({ base, id }) => ({ body: found(resourceTypes(base), id) }),
  '/Schemas': async ({ base }) => {
    const all = schemas(base);
    return { body: listResponse(all, all.length, 1) };
  },
  '/Schemas/:id': async ({ base, id }) => ({ body: found(schemas(base), id) }),
};

function faultOf(error: unknown, request: FastifyRequest): { fault: ScimFault; headers: object } {
  if (error instanceof ScimFault) return { fault: error, headers: {} };
  // Another request has just taken the name.
  if (error instanceof pg.DatabaseError && error.code === '23505')
    return { fault: notUnique('name'), headers: {} };
  const { status, body, headers } = refusalFor(error, request);
  const scimType = status === 400 && error instanceof Error ? 'invalidSyntax' : null;
  return { fault: new ScimFault(status, scimType, body.error), headers };
}

function sendScimFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { fault, headers } = faultOf(error, request);
  reply.headers({ ...headers, 'cache-control': 'no-store' });
  if (fault.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(fault.status).type(TYPE).send(errorBody(fault));
}

/** Mounts SCIM 2.0 (SCIM-1), whose requests and errors have a form of their own. */
export async function serveScim(server: FastifyInstance, deps: Deps, budgets: Budgets): Promise<void> {
  /** Returns the directory of the request's token; throws 401 for every other credential (SCIM-2). */
  const enter = async (request: FastifyRequest): Promise<Directory> => {
    const directory = await findDirectory(deps, bearerOf(request.headers.authorization));
    if (directory !== null) return directory;
    await budgets.spendOnEntry({}, clientAddress(request), null);
    throw refuse('bearer-token-invalid');
  };
  const directories = new WeakMap<FastifyRequest, Directory>();
  const answerWith = (answer: Answer) => async (request: FastifyRequest, reply: FastifyReply) => {
    // Again for a body, which may have taken long to arrive (HTTP-29).
    const entered = request.method === 'GET' ? directories.get(request) : undefined;
    const directory = entered ?? (await enter(request));
    checkContent(request.body, 'body');
    const origin = `${request.protocol}://${request.host}`;
    const asked: Asked = {
      directory,
      base: `${await ownAddress(deps, { ownOrigin: origin })}${PATH}`,
      id: String(recordOf(request.params).id ?? ''),
      query: recordOf(request.query),
      body: request.body,
    };
    const { status = 200, body, location } = await answer(asked);
    if (location !== undefined) reply.header('location', location);
    reply.code(status).header('cache-control', 'no-store');
    return body === undefined ? reply.send() : reply.type(TYPE).send(body);
  };
  await server.register(
    async (scope) => {
      scope.setErrorHandler(sendScimFault);
      scope.removeAllContentTypeParsers();
      const parseJson = scope.getDefaultJsonParser('error', 'error');
      scope.addContentTypeParser(
        ['application/scim+json', 'application/json'],
        { parseAs: 'string', bodyLimit: MOST_BYTES },
        (request, body, done) => {
          if (body === '') done(null, undefined);
          else
            parseJson(request, String(body), (error, value) =>
              done(error === null ? null : refuse('malformed-json'), value),
            );
        },
      );
      scope.addHook('onRequest', async (request) => {
        const directory = await enter(request);
        directories.set(request, directory);
        await budgets.spendDirectory(directory.tokenId);
      });
      for (const [path, answer] of Object.entries(descriptions)) {
        scope.get(path, answerWith(answer));
        refuseMethods(scope, path, ['GET']);
      }
      for (const [path, { list, get, create, replace, modify, remove }] of [
        ['/Users', userResource(deps)],
        ['/Groups', groupResource(deps)],
      ] as const) {
        scope.get(path, answerWith(list));
        scope.post(path, answerWith(create));
        refuseMethods(scope, path, ['GET', 'POST']);
        const one = `${path}/:id`;
        scope.get(one, answerWith(get));
        scope.put(one, answerWith(replace));
        scope.patch(one, answerWith(modify));
        scope.delete(one, answerWith(remove));
        refuseMethods(scope, one, ['GET', 'PUT', 'PATCH', 'DELETE']);
      }
      scope.all('/*', async () => {
        throw scimNotFound();
      });
    },
    { prefix: PATH },
  );
}
