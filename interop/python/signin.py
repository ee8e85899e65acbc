"""Signs a user in at the issuer, and again as the gateway's challenge wants it:
by other means (RFC 9470) or for more scopes (RFC 6750)."""

import re

import httpx

GRANT_TYPE = 'urn:openid:params:grant-type:ciba'
CURABLE = {'insufficient_user_authentication', 'insufficient_scope'}


class SignIn(httpx.Auth):
    """The authentication of an HTTP client, which is how the SDK's takes one."""

    def __init__(self, issuer, user):
        self.issuer = issuer
        self.user = user
        self.token = None

    async def async_auth_flow(self, request):
        self.token = self.token or await self.ask()
        request.headers['Authorization'] = f'Bearer {self.token}'
        response = yield request
        challenge = response.headers.get('WWW-Authenticate', '')
        found = {name: re.search(rf'Bearer .*?\b{name}="([^"]*)"', challenge)
                 for name in ('error', 'acr_values', 'scope')}
        value = {name: match[1] for name, match in found.items() if match}
        if value.get('error') in CURABLE:
            self.token = await self.ask(value.get('acr_values', 'basic'), value.get('scope', ''))
            request.headers['Authorization'] = f'Bearer {self.token}'
            yield request

    async def ask(self, acr='basic', scope=''):
        begun = await self.post('backchannel', {
            'login_hint': self.user, 'scope': f'openid a2a.invoke {scope}'.strip(), 'acr_values': acr,
            'resource': 'https://gateway.example',
        })
        given = await self.post('token', {'grant_type': GRANT_TYPE, 'auth_req_id': begun['auth_req_id']})
        return given['access_token']

    async def post(self, path, form):
        async with httpx.AsyncClient(auth=('user', 'user-secret')) as client:
            return (await client.post(f'{self.issuer}/{path}', data=form)).json()
