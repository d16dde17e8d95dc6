import { nameParts, schemaUrns } from './attributes.ts';

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Returns a page of resources (RFC 7644, 3.4.2). */
export function listResponse(resources: readonly unknown[], totalResults: number, startIndex: number) {
  return {
    schemas: [listSchema],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** The most resources of a page. */
export const MOST_RESULTS = 200;

/** What this library supports of SCIM (RFC 7643, 5). */
export function serviceProviderConfig(base: string) {
  const unsupported = { supported: false };
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MOST_RESULTS },
    changePassword: unsupported,
    sort: unsupported,
    etag: unsupported,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'OAuth Bearer Token',
        description: 'A token that an administrator created for the provider.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

/** The types of resources (RFC 7643, 6). */
export function resourceTypes(base: string) {
  const types = [
    { id: 'User', endpoint: '/Users', description: 'An account', schema: schemaUrns.user },
    { id: 'Group', endpoint: '/Groups', description: 'A group of accounts', schema: schemaUrns.group },
  ];
  return types.map((type) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...type,
    name: type.id,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type.id}` },
  }));
}

interface Described {
  type?: string;
  multiValued?: boolean;
  required?: boolean;
  caseExact?: boolean;
  mutability?: string;
  uniqueness?: string;
  subAttributes?: readonly object[];
}

function attribute(name: string, described: Described = {}) {
  return {
    name,
    type: 'string',
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...described,
  };
}

const externalId = attribute('externalId', { caseExact: true, uniqueness: 'server' });

const referring = (mutability: string) => [
  attribute('value', { mutability }),
  attribute('display', { mutability: 'readOnly' }),
  attribute('$ref', { type: 'reference', mutability }),
  attribute('type', { mutability }),
];

const userAttributes = [
  attribute('userName', { required: true, uniqueness: 'server' }),
  externalId,
  attribute('name', {
    type: 'complex',
    subAttributes: nameParts.map((part) => attribute(part)),
  }),
  attribute('displayName'),
  attribute('emails', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value'),
      attribute('type'),
      attribute('display'),
      attribute('primary', { type: 'boolean' }),
    ],
  }),
  attribute('active', { type: 'boolean' }),
  attribute('groups', {
    type: 'complex',
    multiValued: true,
    mutability: 'readOnly',
    subAttributes: referring('readOnly'),
  }),
];

const groupAttributes = [
  attribute('displayName', { required: true, uniqueness: 'server' }),
  externalId,
  attribute('members', { type: 'complex', multiValued: true, subAttributes: referring('immutable') }),
];

/** The schemas of the resources (RFC 7643, 7). */
export function schemas(base: string) {
  const described = [
    { id: schemaUrns.user, name: 'User', description: 'An account', attributes: userAttributes },
    { id: schemaUrns.group, name: 'Group', description: 'A group of accounts', attributes: groupAttributes },
  ];
  return described.map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }));
}
