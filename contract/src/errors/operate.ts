import type { ErrorDefinitions } from './definition.ts';

/** Errors of administration, appearance and setting up. */
export const operateErrors = {
  'accent-contrast-too-low': {
    status: 422,
    text: '{property} has a contrast of {contrast} on the pages, and needs {min}',
  },
  'address-invalid': { status: 400, text: '{property} is not a valid address' },
  'address-locks-out': {
    status: 400,
    text: 'with this base_url {reason}; send force to set it anyway',
    property: 'base_url',
  },
  'already-set-up': { status: 409, text: 'the library is already set up' },
  'cannot-delete-yourself': { status: 400, text: 'another administrator has to delete your account' },
  'ids-or-all': { status: 400, text: 'send either ids or all' },
  'job-not-failed': { status: 409, text: 'the job has not failed' },
  'job-running': { status: 409, text: 'the job is running' },
  'logo-animated': { status: 400, text: 'a logo must not be animated' },
  'logo-edge-out-of-range': {
    status: 400,
    text: 'each edge of a logo has {min} to {max} pixels, not {width} x {height}',
  },
  'logo-empty': { status: 400, text: 'the body is empty' },
  'logo-not-found': { status: 404, text: 'logo not found' },
  'logo-of-other-type': { status: 400, text: 'a logo is a PNG, JPEG, GIF or WebP picture' },
  'logo-too-large': { status: 400, text: 'a logo has at most 2 MiB' },
  'logo-undecodable': { status: 400, text: 'the bytes cannot be read as a picture' },
  'logo-unreadable': { status: 409, text: 'the logo cannot be read' },
  'refusal-without-reason': { status: 400, text: 'a refusal needs a reason', property: 'reason' },
  'root-field-not-found': { status: 400, text: 'assets have no field {field}', property: 'fields' },
  'root-needs-file': {
    status: 400,
    text: 'a file in a root needs root_id and its bytes',
    property: 'root_id',
  },
  'root-not-found': { status: 404, text: 'root not found', property: 'root_id' },
  'root-not-writable': { status: 409, text: 'the root cannot be written to', property: 'root_id' },
  'root-overlaps-library': {
    status: 400,
    text: 'the folder is inside or above the data directory of the library',
    property: 'path',
  },
  'root-overlaps-root': {
    status: 400,
    text: 'the folder is inside, above or equal to the root {path}',
    property: 'path',
  },
  'root-path-invalid': {
    status: 400,
    text: 'root_path is not a path below the root that a scan finds',
    property: 'root_path',
  },
  'root-path-not-absolute': { status: 400, text: 'path is not absolute', property: 'path' },
  'root-path-not-folder': {
    status: 400,
    text: 'path is not a folder that the service can reach',
    property: 'path',
  },
  'root-path-of-system': { status: 400, text: 'path is a folder of the system', property: 'path' },
  'root-path-taken': { status: 409, text: 'there is a file with this path', property: 'root_path' },
  'root-pattern-invalid': { status: 400, text: 'the pattern {pattern}: {reason}', property: 'fields' },
  'set-up-code-missing': {
    status: 403,
    text: 'the set-up code is missing; Vitrine prints it when it starts',
  },
  'set-up-code-wrong': { status: 403, text: 'the set-up code is wrong; Vitrine prints it when it starts' },
  'set-up-name-refused': {
    status: 403,
    text: 'set-up is refused under this name; open the library by localhost or an IP address, or set VITRINE_BASE_URL',
  },
  'text-address-invalid': { status: 400, text: 'body.{property} is not a valid address' },
} as const satisfies ErrorDefinitions;
