import { type Static, Type } from 'typebox';
import { bytes, noContent, operation } from './operation.ts';
import { Texts } from './texts.ts';
import { closed, nullable, Removal } from './values.ts';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** APPEARANCE-1: the public boot payload, without the logo history. */
const publicMembers = {
  brand_font: Type.String(),
  display_font: Type.String(),
  body_font: Type.String(),
  mono_font: Type.String(),
  site_name: Type.String(),
  demo_mode: Type.Boolean(),
  public_mode_enabled: Type.Boolean(),
  visual_search_enabled: Type.Boolean(),
  logo_url: Type.Optional(Type.String()),
  logo_width: Type.Optional(Type.Integer()),
  logo_height: Type.Optional(Type.Integer()),
  /** The accent colours of both themes, such as `#0d6d69`; absent for the default. */
  accent_light: Type.Optional(Type.String()),
  accent_dark: Type.Optional(Type.String()),
  /** Custom texts of the operator; absent when none are set. */
  texts: Type.Optional(Texts),
};
export const Appearance = closed(publicMembers);
export type Appearance = Static<typeof Appearance>;

/** A reference to stored bytes, never image data. */
export const LogoEntry = closed({
  hash: Hash,
  url: Type.String(),
  content_type: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  size_bytes: Type.Integer(),
  available: Type.Boolean(),
  active: Type.Boolean(),
});
export type LogoEntry = Static<typeof LogoEntry>;

/** Includes the recent logos, most recently used first. For administrators only (APPEARANCE-3). */
export const AdminAppearance = closed({
  ...publicMembers,
  logo_history: Type.Array(LogoEntry, { maxItems: 5 }),
});
export type AdminAppearance = Static<typeof AdminAppearance>;

export const getAppearance = operation({
  id: 'getAppearance',
  method: 'GET',
  path: '/appearance',
  tag: 'Appearance',
  summary: 'Get the appearance',
  description:
    'Returns the fonts, names, logo and texts that a page needs before sign-in. The response is the same for every caller.',
  door: 'open',
  scope: 'none',
  responses: { 200: Appearance },
  errors: [],
});

export const getLogo = operation({
  id: 'getLogo',
  method: 'GET',
  path: '/appearance/logo',
  tag: 'Appearance',
  summary: 'Get the logo',
  description:
    'Returns the current logo, or with `v` one of the recent ones. Returns 404 while the default mark is used.',
  door: 'open',
  scope: 'none',
  query: closed({ v: Type.Optional(Hash) }),
  responses: { 200: bytes('image/png'), 304: noContent },
  errors: ['not-found'],
});

export const getAdminAppearance = operation({
  id: 'getAdminAppearance',
  method: 'GET',
  path: '/admin/system/appearance',
  tag: 'Appearance',
  summary: 'Get the appearance with recent logos',
  description: 'Returns the appearance and up to five recent logos, the last one used first.',
  door: { holds: 'system.appearance.write' },
  scope: 'read',
  responses: { 200: AdminAppearance },
  errors: [],
});

/** A colour such as `#0d6d69`; an empty string selects the default colour. */
const AccentColour = Type.String({ pattern: '^(#[0-9A-Fa-f]{6})?$' });

/** Id of a font in the catalogue; an empty string selects the default font. */
const FontId = Type.String({ maxLength: 64, pattern: '^([a-z0-9]+(-[a-z0-9]+)*)?$' });

export const updateAppearance = operation({
  id: 'updateAppearance',
  method: 'PATCH',
  path: '/admin/system/appearance',
  tag: 'Appearance',
  summary: 'Choose fonts and colours',
  description:
    'An empty value returns a font or a colour to its default. A colour whose contrast with the pages of its theme is below 4.5 returns 422.',
  door: { holds: 'system.appearance.write' },
  scope: 'admin',
  body: closed({
    brand_font: Type.Optional(nullable(FontId)),
    display_font: Type.Optional(nullable(FontId)),
    body_font: Type.Optional(nullable(FontId)),
    mono_font: Type.Optional(nullable(FontId)),
    accent_light: Type.Optional(nullable(AccentColour)),
    accent_dark: Type.Optional(nullable(AccentColour)),
  }),
  responses: { 200: AdminAppearance },
  errors: ['accent-contrast-too-low'],
});

export const uploadLogo = operation({
  id: 'uploadLogo',
  method: 'POST',
  path: '/admin/system/appearance/logo',
  tag: 'Appearance',
  summary: 'Upload a logo',
  description:
    'Accepts the bytes of a PNG, JPEG, GIF or WebP picture that is not animated, of at most 2 MiB and with edges of 16 to 1024 pixels. The text of a 400 names the rule that failed.',
  door: { holds: 'system.appearance.write' },
  scope: 'admin',
  // Larger than a logo may be, so that the handler can reject it with a specific message.
  raw: { maxBytes: 8 * 1024 * 1024 },
  responses: { 200: AdminAppearance },
  errors: [
    'logo-animated',
    'logo-edge-out-of-range',
    'logo-empty',
    'logo-of-other-type',
    'logo-too-large',
    'logo-undecodable',
    'picture-decoding-stopped',
  ],
});

export const selectLogo = operation({
  id: 'selectLogo',
  method: 'POST',
  path: '/admin/system/appearance/logo/select',
  tag: 'Appearance',
  summary: 'Use a recent logo again',
  description:
    'Moves the logo to the front of the recent ones. An unknown hash returns 404, a logo whose bytes are missing 409.',
  door: { holds: 'system.appearance.write' },
  scope: 'admin',
  // Has no pattern: a text that is not a hash returns 404, like an unknown hash.
  body: closed({ hash: Type.String({ maxLength: 200 }) }),
  responses: { 200: AdminAppearance },
  errors: ['logo-not-found', 'logo-unreadable'],
});

/** APPEARANCE-6. */
export const revertLogo = operation({
  id: 'revertLogo',
  method: 'DELETE',
  path: '/admin/system/appearance/logo',
  tag: 'Appearance',
  summary: 'Return to the default mark',
  description: 'Idempotent. The logo stays among the recent ones.',
  door: { holds: 'system.appearance.write' },
  scope: 'admin',
  responses: { 200: AdminAppearance },
  errors: [],
});

/**
 * The sensitivity of a new file when the uploader does not choose one (ADMIN-4). `team` needs a team, so it cannot be
 * the default.
 */
export const DefaultSensitivity = Type.Enum(['posts', 'org', 'public', 'restricted']);
export type DefaultSensitivity = Static<typeof DefaultSensitivity>;

export const Site = closed({
  site_name: Type.String(),
  base_url: nullable(Type.String()),
  default_sensitivity: DefaultSensitivity,
  /** Whether search engines may list public pages while public mode is on. */
  indexing: Type.Boolean(),
});

export const getSite = operation({
  id: 'getSite',
  method: 'GET',
  path: '/admin/system/site',
  tag: 'System',
  summary: 'Get the site settings',
  description: 'Returns the name, address, default sensitivity and indexing of the library.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Site },
  errors: [],
});

export const updateSite = operation({
  id: 'updateSite',
  method: 'PATCH',
  path: '/admin/system/site',
  tag: 'System',
  summary: 'Change the site settings',
  description:
    'An address in the environment takes precedence over `base_url`. An address under which the calling page would stop working returns 400 unless `force` is true.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({
    site_name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }))),
    base_url: Type.Optional(
      nullable(Type.String({ maxLength: 500, pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' })),
    ),
    clear_base_url: Removal,
    default_sensitivity: Type.Optional(nullable(DefaultSensitivity)),
    indexing: Type.Optional(nullable(Type.Boolean())),
    /** Accepts an address under which the calling page would stop working. */
    force: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: Site },
  errors: ['address-invalid', 'address-locks-out', 'exclusive-properties'],
});
