// The signing keys of the issuer, in the order of its JWK set: the first one signs.
import { generateKeyPairSync, randomUUID } from 'node:crypto';

const newKey = () => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid: randomUUID(), alg: 'RS256', use: 'sig',
});

export const firstKeys = () => [newKey()];

// nextKeys has the key sign that was announced, and announces the one after it. At first
// none was: then a new one signs at once. Keys that tokens were signed with stay.
export const nextKeys = ([current, announced, ...before]) => (
  [announced ?? newKey(), newKey(), current, ...before]);
