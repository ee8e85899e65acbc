"""Signs and verifies agent cards by the means of a2a-sdk 1.x; js/cards.mjs says how it is asked."""

import asyncio
import json
import sys

import httpx
from google.protobuf.json_format import ParseDict
from jwt import PyJWK

from a2a.client import A2ACardResolver
from a2a.client.card_resolver import parse_agent_card
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types import a2a_pb2 as pb
from a2a.utils.signing import create_agent_card_signer, create_signature_verifier


def sign(asked):
    card = ParseDict(asked['sign'], pb.AgentCard(), ignore_unknown_fields=True)
    create_agent_card_signer(PyJWK.from_dict(asked['key']).key, asked['header'])(card)
    return {'card': agent_card_to_dict(card)}


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
        if asked.get('raw'):
            card = parse_agent_card((await client.get(asked['verify'])).json())
            verifier(card)
    return {'ok': True}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = sign(asked) if 'sign' in asked else asyncio.run(verify(asked))
    except Exception as e:  # noqa: BLE001 whatever it is, it is the answer
        answer = {'error': f'{type(e).__name__}: {e}'}
    print(json.dumps(answer), flush=True)
