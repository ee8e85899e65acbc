// Signs a user in at the issuer, and again as the gateway's challenge wants it: by other
// means (RFC 9470) or for more scopes (RFC 6750). It is the authentication handler of the
// SDKs' fetch with retry.
const grantType = 'urn:openid:params:grant-type:ciba';

export class SignIn {
  constructor({ issuer, user }) {
    this.issuer = issuer;
    this.user = user;
  }

  async headers() {
    this.token ??= await this.ask({});
    return { Authorization: `Bearer ${this.token}` };
  }

  async shouldRetryWithHeaders(_, response) {
    const challenge = response.headers.get('WWW-Authenticate') ?? '';
    const value = (name) => challenge.match(new RegExp(`Bearer [^]*?\\b${name}="([^"]*)"`))?.[1];
    if (!['insufficient_user_authentication', 'insufficient_scope'].includes(value('error'))) return undefined;
    this.token = await this.ask({ acr: value('acr_values'), scope: value('scope') });
    return this.headers();
  }

  async ask({ acr = 'basic', scope = 'a2a.invoke' }) {
    const { auth_req_id } = await this.post('backchannel', {
      login_hint: this.user, scope: `openid a2a.invoke ${scope}`, acr_values: acr, resource: 'https://gateway.example',
    });
    return (await this.post('token', { grant_type: grantType, auth_req_id })).access_token;
  }

  async post(path, form) {
    const response = await fetch(`${this.issuer}/${path}`, {
      method: 'POST', body: new URLSearchParams(form),
      headers: { Authorization: `Basic ${btoa('user:user-secret')}` },
    });
    return response.json();
  }
}
