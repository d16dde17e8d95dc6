import type { Account, Library } from './library.ts';

export const urns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
};

/** The properties of resources, lists and errors that tests read; the assertions check them. */
interface ScimBody {
  id?: string;
  userName?: string;
  active?: boolean;
  emails?: { value: string }[];
  groups?: { value: string }[];
  members?: { value: string }[];
  meta?: object;
  endpoint?: string;
  attributes?: { name: string }[];
  totalResults?: number;
  Resources?: ScimBody[];
}

export interface ScimAnswer {
  status: number;
  type: string | null;
  location: string | null;
  /** Empty for a response without content. */
  body: ScimBody;
}

/** A directory of a provider. */
export interface ScimClient {
  token: string;
  id: string;
  send(method: string, path: string, body?: unknown, type?: string): Promise<ScimAnswer>;
  /** Sends operations of PATCH. */
  patch(path: string, ...operations: unknown[]): Promise<ScimAnswer>;
}

/** Sends a request of SCIM with a credential. */
export async function sendScim(
  { address }: Pick<Library, 'address'>,
  authorization: string | null,
  {
    method,
    path,
    body,
    type = 'application/scim+json',
  }: { method: string; path: string; body?: unknown; type?: string },
): Promise<ScimAnswer> {
  const response = await fetch(`${address}/api/v1/scim/v2${path}`, {
    method,
    headers: {
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    location: response.headers.get('location'),
    body: text === '' ? {} : JSON.parse(text),
  };
}

/** Creates a token of a provider's directory. */
export async function openScim(library: Library, admin: Account, provider: string): Promise<ScimClient> {
  const { token, id } = await admin.ok('createScimToken', {
    params: { name: provider },
    body: { name: 'the directory' },
  });
  const send: ScimClient['send'] = (method, path, body, type) =>
    sendScim(library, `Bearer ${token}`, { method, path, body, ...(type === undefined ? {} : { type }) });
  return {
    token,
    id,
    send,
    patch: (path, ...operations) => send('PATCH', path, { schemas: [urns.patch], Operations: operations }),
  };
}
