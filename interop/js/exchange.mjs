// Token exchange (RFC 8693) for others' users. Subject tokens are access tokens for the
// gateway of another issuer, A2A_INTEROP_TRUSTS, whose users are known here by other
// names; or assertions of the gateway itself, which knows the names, once trustAssertions
// has said by which keys. What is given for them is a token for the resource. An actor
// token, of this issuer's own or an assertion, becomes the act claim.
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { errors } from 'oidc-provider';
import { audience, resourceServer } from './resource.mjs';

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const jwt = 'urn:ietf:params:oauth:token-type:jwt';

const trusted = process.env.A2A_INTEROP_TRUSTS;
const users = { alice: 'a.liddell', bob: 'b.tables' };

let asserting;
export const trustAssertions = (issuer, keys) => { asserting = { issuer, keys }; };

async function subjectOf(token, keys, conditions) {
  try {
    return (await jwtVerify(token, createRemoteJWKSet(new URL(keys)), conditions)).payload.sub;
  } catch (error) {
    throw new errors.InvalidGrant(error.message);
  }
}

const ofOther = (token) => subjectOf(token, `${trusted}/jwks`, { issuer: trusted, audience, typ: 'at+jwt' });
const ofOwn = (token, { issuer }) => subjectOf(token, `${issuer}/jwks`, { issuer, typ: 'at+jwt' });
const asserted = (token, { issuer }) => subjectOf(
  token, asserting?.keys, { issuer: asserting?.issuer, audience: `${issuer}/token`, typ: 'JWT' });

// What tokens are taken, by their type.
const subjects = { [accessToken]: async (token) => users[await ofOther(token)], [jwt]: asserted };
const actors = { [accessToken]: ofOwn, [jwt]: asserted };

function taken(types, type) {
  if (!types[type]) throw new errors.InvalidRequest('this type of token is not taken');
  return types[type];
}

async function exchange(ctx) {
  const { client, params, provider } = ctx.oidc;
  const accountId = await taken(subjects, params.subject_token_type)(params.subject_token, provider);
  if (!accountId) throw new errors.InvalidGrant('nobody here');
  if (params.actor_token) {
    ctx.state.actor = await taken(actors, params.actor_token_type)(params.actor_token, provider);
  }
  const token = new provider.AccessToken({ accountId, client, gty: 'token_exchange', scope: params.scope });
  token.resourceServer = new provider.ResourceServer(
    params.resource, resourceServer(ctx, params.resource, client));
  ctx.oidc.entity('AccessToken', token);
  ctx.body = {
    access_token: await token.save(), issued_token_type: accessToken, token_type: 'Bearer',
    expires_in: token.expiration, scope: token.scope,
  };
}

// allowExchange teaches the provider the grant, which it does not have of its own.
export function allowExchange(provider) {
  provider.registerGrantType(exchangeGrant, exchange, [
    'audience', 'resource', 'scope', 'subject_token', 'subject_token_type', 'actor_token', 'actor_token_type',
  ]);
}
