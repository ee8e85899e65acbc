// Token exchange (RFC 8693) for the users of another issuer, A2A_INTEROP_TRUSTS: their
// tokens for the gateway are verified by that issuer's keys, and what is given for them
// is a token for the resource, of the user that the other's is here. A token of this
// issuer's own as the actor_token becomes the act claim.
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { errors } from 'oidc-provider';
import { audience, resourceServer } from './resource.mjs';

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

// The users of the other issuer who are somebody here.
const users = { alice: 'a.liddell', bob: 'b.tables' };

async function verified(token, issuer, audiences) {
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  try {
    return (await jwtVerify(token, keys, { issuer, audience: audiences, typ: 'at+jwt' })).payload;
  } catch (error) {
    throw new errors.InvalidGrant(error.message);
  }
}

async function exchange(ctx, trusted) {
  const { client, params, provider } = ctx.oidc;
  if (params.subject_token_type !== accessToken) throw new errors.InvalidRequest('subject_token_type');
  const subject = await verified(params.subject_token, trusted, audience);
  const accountId = users[subject.sub];
  if (!accountId) throw new errors.InvalidGrant('nobody here');
  if (params.actor_token) {
    ctx.state.actor = (await verified(params.actor_token, provider.issuer, undefined)).sub;
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
  const trusted = process.env.A2A_INTEROP_TRUSTS;
  const parameters = [
    'audience', 'resource', 'scope', 'subject_token', 'subject_token_type', 'actor_token', 'actor_token_type',
  ];
  provider.registerGrantType(exchangeGrant, (ctx) => exchange(ctx, trusted), parameters);
}
