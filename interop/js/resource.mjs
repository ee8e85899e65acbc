// What the issuer's tokens are for: the gateway, unless another resource is asked for.
export const audience = process.env.A2A_INTEROP_AUDIENCE ?? 'https://gateway.example';

export const resourceServer = (_, resource, client) => ({
  scope: 'a2a.invoke work billing.read billing.refund', audience: resource, accessTokenTTL: 3600,
  ...(client.clientId.startsWith('opaque')
    ? { accessTokenFormat: 'opaque' }
    : { accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
});
