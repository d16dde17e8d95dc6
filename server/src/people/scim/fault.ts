/** The detail codes of RFC 7644 that this library uses. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

/** An error in the form of SCIM (RFC 7644, 3.12). */
export class ScimFault extends Error {
  readonly status: number;
  readonly scimType: ScimType | null;

  constructor(status: number, scimType: ScimType | null, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Returns the body of an error response. */
export function errorBody({ status, scimType, message }: Pick<ScimFault, 'status' | 'scimType' | 'message'>) {
  return {
    schemas: [errorSchema],
    status: String(status),
    ...(scimType === null ? {} : { scimType }),
    detail: message,
  };
}

export function invalidValue(detail: string): ScimFault {
  return new ScimFault(400, 'invalidValue', detail);
}

export function scimNotFound(): ScimFault {
  return new ScimFault(404, null, 'not found');
}

export function notUnique(what: string): ScimFault {
  return new ScimFault(409, 'uniqueness', `another resource has this ${what}`);
}
