// A certified OpenID Connect issuer, oidc-provider, for the matrix: client
// credentials in, a signed access token for the gateway out. It listens on a
// free loopback port and tells it on standard output as one JSON line; it ends
// when standard input is closed.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const audience = process.env.A2A_INTEROP_AUDIENCE ?? 'https://gateway.example';
let handler;
const server = createServer((request, response) => handler(request, response));

server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    clients: [{
      client_id: 'interop', client_secret: 'interop-secret', grant_types: ['client_credentials'],
      redirect_uris: [], response_types: [], token_endpoint_auth_method: 'client_secret_basic',
    }],
    scopes: ['a2a.invoke'],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: 'a2a.invoke', audience: resource, accessTokenTTL: 3600, accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  provider.on('server_error', (_, error) => console.error(error));
  handler = provider.callback();
  console.log(JSON.stringify({ port: server.address().port, url }));
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
