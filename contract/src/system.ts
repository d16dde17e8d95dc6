import { Type } from 'typebox';
import { operation } from './operation.ts';
import { closed } from './values.ts';

export const PublicMode = closed({ enabled: Type.Boolean() });

export const getPublicMode = operation({
  id: 'getPublicMode',
  method: 'GET',
  path: '/system/public-mode',
  tag: 'System',
  summary: 'Whether anonymous visitors are let in',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: PublicMode },
  errors: [],
});

export const setPublicMode = operation({
  id: 'setPublicMode',
  method: 'PUT',
  path: '/system/public-mode',
  tag: 'System',
  summary: 'Let anonymous visitors in, or keep them out',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: PublicMode,
  responses: { 200: PublicMode },
  errors: [],
});

export const MatureContent = closed({ allowed: Type.Boolean() });

export const getMatureContent = operation({
  id: 'getMatureContent',
  method: 'GET',
  path: '/admin/system/mature-content',
  tag: 'System',
  summary: 'Whether this library allows mature content',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: MatureContent },
  errors: [],
});

export const setMatureContent = operation({
  id: 'setMatureContent',
  method: 'PUT',
  path: '/admin/system/mature-content',
  tag: 'System',
  summary: 'Allow mature content, or allow it no longer',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: MatureContent,
  responses: { 200: MatureContent },
  errors: [],
});

export const getBuildInfo = operation({
  id: 'getBuildInfo',
  method: 'GET',
  path: '/build-info',
  tag: 'System',
  summary: 'Version of the service and of this interface',
  door: 'open',
  scope: 'none',
  responses: { 200: closed({ version: Type.String(), api_version: Type.String() }) },
  errors: [],
});
