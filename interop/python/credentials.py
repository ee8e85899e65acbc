"""The SDK's own means to send a credential by what the agent's card asks for."""

from a2a.client.auth.credentials import CredentialService
from a2a.client.auth.interceptor import AuthInterceptor


class Store(CredentialService):
    def __init__(self, by_scheme):
        self.by_scheme = by_scheme

    async def get_credentials(self, security_scheme_name, context):
        return self.by_scheme.get(security_scheme_name)


def interceptors(by_scheme):
    """What a client is made with that has credentials by the names of the card's schemes."""
    return [AuthInterceptor(Store(by_scheme))] if by_scheme else None
