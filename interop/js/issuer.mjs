// A certified OpenID Connect issuer, oidc-provider, on free loopback ports: what it
// does is in provider.mjs. It tells where it is on standard output as one JSON line,
// and ends when standard input is closed. `tls` is the same provider over TLS, for
// clients with a certificate, where A2A_INTEROP_CERT and A2A_INTEROP_KEY (PEM) are set.
//
// POST /rotate has another key sign from then on, see signing.mjs; POST /trust has it
// exchange the assertions of an issuer, by the keys at an address, see exchange.mjs.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { trustAssertions } from './exchange.mjs';
import { makeProvider, signIn } from './provider.mjs';
import { firstKeys, nextKeys } from './signing.mjs';

const { A2A_INTEROP_CERT: cert, A2A_INTEROP_KEY: key } = process.env;
let handler;
let provider;
let keys = firstKeys();

const renew = () => {
  provider = makeProvider(url, keys);
  handler = provider.callback();
};

// What is done to the provider from outside.
const orders = {
  '/rotate': () => {
    keys = nextKeys(keys);
    renew();
  },
  '/trust': (query) => trustAssertions(query.get('issuer'), query.get('keys')),
};

const serve = (request, response) => {
  const { pathname, searchParams } = new URL(request.url, url);
  if (pathname.startsWith('/interaction/')) {
    signIn(provider, request, response).catch((error) => {
      console.error(error);
      response.writeHead(500).end();
    });
    return;
  }
  if (!orders[pathname]) {
    handler(request, response);
    return;
  }
  orders[pathname](searchParams);
  response.end();
};

const listen = async (server, scheme) => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `${scheme}://127.0.0.1:${server.address().port}`;
};

const url = await listen(createServer(serve), 'http');
renew();
const tls = cert && await listen(
  createSecureServer({ cert, key, requestCert: true, rejectUnauthorized: false }, serve), 'https');
console.log(JSON.stringify({ url, tls }));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
