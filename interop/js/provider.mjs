// The issuer's clients, users and tokens. All secrets are the client's id and "-secret".
//
//   interop      client credentials, JWTs
//   opaque       client credentials, tokens that only the introspection endpoint can read
//   bound        client credentials, JWTs bound to the certificate of the connection
//   opaque-bound the same with opaque tokens
//   user         tokens of the user in login_hint, who agrees at once (CIBA, poll): with the
//                first of the acr_values that are asked for, else "basic"
//   gateway      token exchange, see exchange.mjs, and client credentials
//   resource     asks the introspection endpoint
//   console      public: browsers sign in, as whom login_hint names (authorization code, PKCE)
//
// Any of them may show a DPoP proof and get a token bound to it.
import Provider from 'oidc-provider';
import { audience, resourceServer } from './resource.mjs';
import { allowExchange, exchangeGrant } from './exchange.mjs';

const ciba = 'urn:openid:params:grant-type:ciba';

const client = (id, grants, more = {}) => ({
  client_id: id, client_secret: `${id}-secret`, grant_types: grants, redirect_uris: [], response_types: [],
  token_endpoint_auth_method: 'client_secret_basic', ...more,
});

const toCertificate = { tls_client_certificate_bound_access_tokens: true };
const clients = [
  client('interop', ['client_credentials']),
  client('opaque', ['client_credentials']),
  client('bound', ['client_credentials'], toCertificate),
  client('opaque-bound', ['client_credentials'], toCertificate),
  client('user', [ciba], { backchannel_token_delivery_mode: 'poll' }),
  client('gateway', ['client_credentials', exchangeGrant]),
  client('resource', []),
  {
    client_id: 'console', application_type: 'native', token_endpoint_auth_method: 'none', grant_types: ['authorization_code'],
    response_types: ['code'], redirect_uris: ['http://127.0.0.1/api/v1/login/callback'], post_logout_redirect_uris: ['http://127.0.0.1/'],
  },
];

// Store keeps what the provider remembers, so that one with other keys still knows it.
const kept = new Map();
class Store {
  constructor(model) { this.model = model; }
  key(id) { return `${this.model} ${id}`; }
  async upsert(id, payload) { kept.set(this.key(id), payload); }
  async find(id) { return kept.get(this.key(id)); }
  async findByUid(uid) { return [...kept.values()].find((payload) => payload.uid === uid && payload.kind === this.model); }
  async destroy(id) { kept.delete(this.key(id)); }
  async consume(id) { kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000); }
  async revokeByGrantId(grantId) {
    for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
  }
}

// agree has the user sign in and agree to what the client asks for.
async function agree(ctx, request, account, asking) {
  const { provider, params } = ctx.oidc;
  const grant = new provider.Grant({ accountId: account.accountId, clientId: asking.clientId });
  grant.addOIDCScope('openid');
  grant.addResourceScope(audience, params.scope);
  await grant.save();
  const [acr = 'basic'] = params.acr_values?.split(' ') ?? [];
  await provider.backchannelResult(request, grant, {
    acr, amr: acr === 'basic' ? ['pwd'] : ['pwd', 'otp'], authTime: Math.floor(Date.now() / 1000),
  });
}

// moreClaims are what access tokens say beside what the provider writes: how the user
// signed in, and who acts for whom.
function moreClaims(ctx) {
  const signIn = ctx.oidc.entities.BackchannelAuthenticationRequest;
  return {
    ...(signIn && { acr: signIn.acr, amr: signIn.amr, auth_time: signIn.authTime }),
    ...(ctx.state.actor && { act: { sub: ctx.state.actor } }),
  };
}

// signIn has who is named sign in, and agree to all that is asked for, without a page.
export async function signIn(provider, request, response) {
  const { prompt, params } = await provider.interactionDetails(request, response);
  let result = { login: { accountId: params.login_hint } };
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: params.login_hint, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    result = { consent: { grantId: await grant.save() } };
  }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

export function makeProvider(url, keys) {
  const provider = new Provider(url, {
    clients,
    adapter: Store,
    jwks: { keys },
    scopes: ['openid', 'profile', 'a2a.invoke'],
    claims: { profile: ['groups'] },
    conformIdTokenClaims: false,
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    acrValues: ['basic', 'mfa'],
    extraTokenClaims: moreClaims,
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, groups: id === 'root' ? ['admins'] : ['staff'] }) }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_, asking) => asking.clientId === 'resource' },
      revocation: { enabled: true },
      dPoP: { enabled: true },
      mTLS: {
        enabled: true, certificateBoundAccessTokens: true,
        getCertificate: (ctx) => ctx.req.socket.getPeerX509Certificate?.(),
      },
      ciba: {
        enabled: true, deliveryModes: ['poll'], processLoginHint: (_, hint) => hint, verifyUserCode: () => {},
        validateRequestContext: () => {}, validateBindingMessage: () => {}, triggerAuthenticationDevice: agree,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx) => (ctx.oidc.client?.clientId === 'console' ? undefined : audience),
        useGrantedResource: () => true,
        getResourceServerInfo: resourceServer,
      },
    },
  });
  provider.on('server_error', (_, error) => console.error(error));
  allowExchange(provider);
  return provider;
}
