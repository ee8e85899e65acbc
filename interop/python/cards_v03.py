"""Signs and verifies agent cards by the means of a2a-sdk 0.3; js/cards.mjs says how it is asked."""

import asyncio
import json
import sys

import httpx
from jwt import PyJWK

from a2a.client import A2ACardResolver
from a2a.types import AgentCard
from a2a.utils.signing import create_agent_card_signer, create_signature_verifier


def sign(asked):
    card = AgentCard.model_validate(asked['sign'])
    create_agent_card_signer(PyJWK.from_dict(asked['key']).key, asked['header'])(card)
    return {'card': card.model_dump(mode='json', exclude_none=True, by_alias=True)}


async def verify(asked):
    headers = {'A2A-Version': asked['version']} if asked.get('version') else {}
    async with httpx.AsyncClient(headers=headers) as client:
        keys = (await client.get(asked['jwks'])).json()['keys']

        def provide(kid, jku):
            if jku != asked['jwks']:
                raise ValueError(f'jku is {jku}')
            return PyJWK.from_dict(next(k for k in keys if k['kid'] == kid))

        verifier = create_signature_verifier(provide, ['ES256', 'EdDSA'])
        base, path = asked['verify'].split('/.well-known/')
        await A2ACardResolver(client, base, '.well-known/' + path).get_agent_card(signature_verifier=verifier)
    return {'ok': True}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = sign(asked) if 'sign' in asked else asyncio.run(verify(asked))
    except Exception as e:  # noqa: BLE001 whatever it is, it is the answer
        answer = {'error': f'{type(e).__name__}: {e}'}
    print(json.dumps(answer), flush=True)
