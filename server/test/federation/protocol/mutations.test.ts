import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/exchange/federation/protocol/canonical.ts';
import { readEnvelope } from '../../../src/exchange/federation/protocol/envelope.ts';
import {
  checkHttpSignature,
  type RequestParts,
  readSignature,
  signHttp,
} from '../../../src/exchange/federation/protocol/http-signature.ts';
import { Rejection, rejectionReasons } from '../../../src/exchange/federation/protocol/rejection.ts';
import {
  rawPublicKey,
  signEnvelope,
  verifyEnvelope,
} from '../../../src/exchange/federation/protocol/signature.ts';
import { parseStrict } from '../../../src/exchange/federation/protocol/strict-json.ts';
import { seeded } from '../../corpus/mutations.ts';
import { alice, alicesKey, bodies, envelopeOf } from './samples.ts';

const SEED = 20_260_604;
const key = rawPublicKey(alicesKey);

/** Returns numbers from 0 to 1 that are the same in every run. */
function random(): () => number {
  const next = seeded(SEED);
  return () => next(2 ** 32) / 2 ** 32;
}

/** Receives bytes as an inbox does, and returns the reason of the refusal or the envelope in canonical form. */
function receive(bytes: Buffer): { reason: string } | { accepted: string } {
  try {
    const envelope = readEnvelope(parseStrict(bytes));
    verifyEnvelope(envelope.received, key);
    const { to = [], cc = [], ...rest } = envelope.received as { to?: string[]; cc?: string[] };
    return { accepted: canonicalJson({ to, cc, ...rest }) };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { reason: error.reason };
  }
}

interface Place {
  holder: object;
  name: string;
  value: unknown;
}

/** Returns every member of every object and array inside a value. */
function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    { holder: value, name, value: inner },
    ...placesOf(inner),
  ]);
}

/** Changes a random member of an envelope. */
function changed(sample: string, next: Random, change: (place: Place) => void): string {
  const envelope: unknown = JSON.parse(sample);
  change(pick(placesOf(envelope), next));
  return JSON.stringify(envelope);
}

const samples = bodies.map((body) => JSON.stringify(envelopeOf(body)));
const canonical = new Set(samples.map((sample) => canonicalJson(JSON.parse(sample))));

/** Values that a hostile or broken sender might send instead. */
const oddTexts = ['', ' ', '\u202e', 'x'.repeat(20_001), '2026-13-45T99:99:99Z', "'; drop table posts; --"];
const oddAddresses = [
  '../../etc/passwd',
  'javascript:alert(1)',
  'https://127.0.0.1/users/alice',
  'https://studio-a.example/users/alice%00',
  'https://studio-b.example/activities/00000000-0000-4000-8000-000000000000',
  'cas://0?content-type=text/html&size=-1',
];
const oddObjects: readonly object[] = [
  { type: 'aa:Post' },
  { __proto__: null, toString: 1, constructor: { prototype: {} } },
];
const others = [null, true, 0, -1, 1.5, Number.MAX_SAFE_INTEGER, 1e308, [], {}, [[[[[[]]]]]]];
const oddities: readonly unknown[] = [...oddTexts, ...oddAddresses, ...oddObjects, ...others];
const meaningful = ['__proto__', 'constructor', 'bto', 'draft', 'encrypted', 'encryption'];
const names = [...meaningful, 'x', 'aa:x', 'Type', 'type ', 'ａctor'];

type Random = () => number;
function pick<T>(from: readonly T[], next: Random): T {
  // The index is within the list, which is never empty.
  return from[Math.floor(next() * from.length)] as T;
}

/** Ways to change an envelope without signing it again. */
const tampering: Readonly<Record<string, (sample: string, next: Random) => string | Buffer>> = {
  value: (sample, next) =>
    changed(sample, next, ({ holder, name }) => Reflect.set(holder, name, pick(oddities, next))),
  removal: (sample, next) =>
    changed(sample, next, ({ holder, name }) => {
      if (Array.isArray(holder)) holder.splice(Number(name), 1);
      else Reflect.deleteProperty(holder, name);
    }),
  addition: (sample, next) =>
    changed(sample, next, ({ holder }) =>
      Object.defineProperty(holder, pick(names, next), {
        value: pick(oddities, next),
        enumerable: true,
        configurable: true,
      }),
    ),
  byte: (sample, next) => {
    const bytes = Buffer.from(sample);
    bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
    return bytes;
  },
  cut: (sample, next) => sample.slice(0, Math.floor(next() * sample.length)),
  repeatedName: (sample, next) => {
    const envelope: object = JSON.parse(sample);
    const [name, value] = pick(Object.entries(envelope), next);
    return `{${JSON.stringify(name)}:${JSON.stringify(next() < 0.5 ? value : pick(oddities, next))},${sample.slice(1)}`;
  },
  swap: (sample, next) => {
    const { value } = pick(placesOf(JSON.parse(pick(samples, next))), next);
    return changed(sample, next, ({ holder, name }) => Reflect.set(holder, name, value));
  },
};

/** Ways to write the same envelope differently: the only changes that are accepted. */
const spelling: Readonly<Record<string, (sample: string, next: Random) => string>> = {
  order: (sample, next) => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      const placed = Object.entries(value).map(([name, inner]) => ({
        at: next(),
        entry: [name, shuffled(inner)],
      }));
      return Object.fromEntries(placed.sort((x, y) => x.at - y.at).map(({ entry }) => entry));
    };
    return JSON.stringify(shuffled(JSON.parse(sample)));
  },
  blanks: (sample, next) => JSON.stringify(JSON.parse(sample), null, pick(['\t', ' ', '  \n'], next)),
  escapes: (sample, next) =>
    sample.replace(/"[^"\\]*"/g, (literal) =>
      literal.replace(/[a-zA-Z0-9:./]/g, (letter) =>
        next() < 0.1 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
      ),
    ),
  numbers: (sample) => sample.replace(/:(\d+)(?=[,}])/g, (_, digits: string) => `:${digits}.0e0`),
};

/** Changes that no envelope survives, even when its sender signs it again. */
const invalid: Readonly<Record<string, (envelope: object, next: Random) => void>> = {
  unknownProperty: (envelope, next) => {
    const objects = [{ value: envelope }, ...placesOf(envelope)].flatMap(({ value }) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : [],
    );
    Object.defineProperty(pick(objects, next), pick(names, next), {
      value: pick(oddities, next),
      enumerable: true,
    });
  },
  otherJsonType: (envelope, next) => {
    const place = pick(placesOf(envelope), next);
    const kindOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);
    const values = [1, 'text', true, [[1]], { a: 1 }];
    const another = values.filter((value) => kindOf(value) !== kindOf(place.value));
    Reflect.set(place.holder, place.name, pick(another, next));
  },
};

/** Mutations of each kind; `ROUNDS=2000 npx vitest run <this file>` tries more. */
const ROUNDS = Number(process.env.ROUNDS ?? 100);

// FED-5, FED-6
describe('mutated envelopes', () => {
  test('the samples are accepted as they are', () => {
    for (const sample of samples) expect(receive(Buffer.from(sample))).toHaveProperty('accepted');
  });

  test.each(Object.entries(tampering))('are refused after tampering: %s', (_, mutate) => {
    const next = random();
    const reasons = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const sample = pick(samples, next);
      const mutated = mutate(sample, next);
      const result = receive(Buffer.from(mutated));
      // A change may have no effect, such as replacing a letter by itself.
      if ('accepted' in result) expect(canonical, mutated.toString()).toContain(result.accepted);
      else reasons.add(result.reason);
    }
    expect(rejectionReasons).toEqual(expect.arrayContaining([...reasons]));
    expect(reasons.size).toBeGreaterThan(0);
  });

  test.each(Object.entries(spelling))('are accepted when only their spelling differs: %s', (_, mutate) => {
    const next = random();
    for (let round = 0; round < ROUNDS; round++) {
      const mutated = mutate(pick(samples, next), next);
      const result = receive(Buffer.from(mutated));
      if (!('accepted' in result)) throw new Error(`${result.reason}: ${mutated}`);
      expect(canonical.has(result.accepted)).toBe(true);
    }
  });

  test.each(Object.entries(invalid))('are refused even if signed again: %s', (_, mutate) => {
    const next = random();
    for (let round = 0; round < ROUNDS; round++) {
      const { signature, ...envelope } = JSON.parse(pick(samples, next)) as { signature: object };
      mutate(envelope, next);
      const mutated = JSON.stringify(signEnvelope(envelope, `${alice}#main-key`, alicesKey));
      const result = receive(Buffer.from(mutated));
      if ('accepted' in result) throw new Error(`accepted: ${mutated}`);
    }
  });
});

// FED-3
describe('mutated requests', () => {
  test('are refused when anything that is signed differs', () => {
    const next = random();
    const now = Date.parse('2026-06-04T10:00:00Z');
    const url = new URL('https://studio-b.example/federation/inbox');
    const body = Buffer.from(samples[0] ?? '');
    const keyId = 'https://studio-a.example/federation/instance#main-key';
    const headers = signHttp({ method: 'POST', url, body, keyId, privateKey: alicesKey, now });
    const intact: RequestParts = { method: 'POST', path: url.pathname, headers, body, now, host: url.host };
    const flip = (text: string) => {
      const index = Math.floor(next() * text.length);
      return text.slice(0, index) + String.fromCharCode(33 + Math.floor(next() * 94)) + text.slice(index + 1);
    };
    const withHeader = (change: (value?: string) => string | string[] | undefined): RequestParts => {
      const name = pick(Object.keys(headers), next);
      return { ...intact, headers: { ...headers, [name]: change(headers[name]) } };
    };
    const ways: (() => RequestParts)[] = [
      () => ({ ...intact, method: pick(['PUT', 'GET', 'post ', ''], next) }),
      () => ({ ...intact, path: flip(intact.path) }),
      () => ({ ...intact, body: Buffer.from(flip(body.toString('latin1')), 'latin1') }),
      () => ({ ...intact, now: now + Math.floor((next() - 0.5) * 4 * 3600_000) }),
      () => withHeader((value) => flip(value ?? '')),
      () => withHeader(() => pick([undefined, '', [], ['a', 'b']], next)),
    ];
    let accepted = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const parts = pick(ways, next)();
      try {
        checkHttpSignature(parts, readSignature(parts), [key]);
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        continue;
      }
      accepted++;
      // Nothing that is signed differs: the time is within its tolerance, or only the unsigned keyId changed.
      const { signature, ...signed } = parts.headers;
      const { signature: original, ...others } = headers;
      expect({ ...parts, headers: signed }).toEqual({ ...intact, now: parts.now, headers: others });
      expect(Math.abs(parts.now - now)).toBeLessThanOrEqual(300_000);
      expect(String(signature).replace(/keyId="[^"]*"/, '')).toBe(original?.replace(/keyId="[^"]*"/, ''));
    }
    expect(accepted).toBeLessThan(ROUNDS / 5);
  });
});
